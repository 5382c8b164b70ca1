"use strict";
// Unpacks the figures and the scripts of a report in one file, and runs these.
(async () => {
  if (!self.DecompressionStream) {
    document.getElementById("unpack-note").hidden = false;
    return;
  }
  const unpacked = async (id) => {
    const zipped = Uint8Array.from(atob(document.getElementById(id).textContent), (each) => each.charCodeAt(0));
    return new Response(new Blob([zipped]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  const figures = JSON.parse(await unpacked("packed-figures"));
  for (const [id, text] of Object.entries(figures)) document.getElementById(id).textContent = text;
  const code = document.createElement("script");
  code.textContent = await unpacked("packed-code");
  document.body.append(code);
})();
