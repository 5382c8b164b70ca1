// SPDX-License-Identifier: Apache-2.0
// What the page does to play a video, and what it writes down. An expression: a function of the settings that
// `_player.py` makes. All instants are the page's performance.now() in ms, all places in the video are seconds.
async (settings) => {
  const report = {start: performance.now(), samples: [], events: [], player: settings.player};
  const ends = (ranges) => Array.from({length: ranges.length}, (_, index) => [ranges.start(index), ranges.end(index)]);

  // What has been loaded, and how far it reaches ahead of a place without a gap.
  const loaded = (ranges) => ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  const ahead = (ranges, place) => {
    const range = ranges.find(([start, end]) => start <= place + 0.05 && place <= end);
    return range ? range[1] - place : 0;
  };

  const note = (name, state, detail = null) =>
    report.events.push([performance.now(), name, state.position, state.ahead, detail]);
  const sample = (state) =>
    report.samples.push([
      performance.now(), state.position, state.ahead, state.loaded, state.height, state.decoded, state.dropped,
    ]);

  // Until the time is over, the video is, or nothing can come any more; `state` tells of the player at any instant.
  const watched = (state, ended) =>
    new Promise((resolve) => {
      const sampling = setInterval(() => sample(state()), settings.sample_ms);
      const stop = (why) => {
        clearInterval(sampling);
        clearTimeout(timer);
        sample(state());
        report.ended = why;
        report.end = performance.now();
        resolve();
      };
      const timer = setTimeout(stop, settings.watch_ms - (performance.now() - report.start), "watched");
      ended(stop);
    });

  // The browser's own player, fed by itself or by dash.js.
  const withElement = async () => {
    const video = document.createElement("video");
    video.muted = true;
    video.style.cssText = "position: fixed; inset: 0; width: 100%; height: 100%";
    document.body.append(video);
    const state = () => {
      const ranges = ends(video.buffered);
      const frames = video.getVideoPlaybackQuality();
      return {
        position: video.currentTime,
        ahead: ahead(ranges, video.currentTime),
        loaded: loaded(ranges),
        height: video.videoHeight,
        decoded: frames.totalVideoFrames,
        dropped: frames.droppedVideoFrames,
      };
    };
    const names = ["loadedmetadata", "canplay", "playing", "waiting", "stalled", "seeking", "seeked", "resize", "ended"];
    for (const name of names)
      video.addEventListener(name, () => note(name, state(), name === "resize" ? String(video.videoHeight) : null));
    video.requestVideoFrameCallback(() => note("first_frame", state()));
    const problem = (text) => (report.error ??= text);
    let dash = null;
    const over = watched(state, (stop) => {
      video.addEventListener("ended", () => stop("ended"));
      video.addEventListener("error", () => {
        problem(`the player gave up: ${video.error?.message || `code ${video.error?.code}`}`);
        stop("error");
      });
    });
    if (settings.player === "dash.js") {
      dash = dashjs.MediaPlayer().create();
      dash.updateSettings({debug: {logLevel: 0}, streaming: {utcSynchronization: {enabled: false}}});
      dash.on("error", (event) => note("player_error", state(), String(event.error?.message ?? event.error)));
      dash.initialize(video, settings.url, true);
      report.version = dash.getVersion();
    } else {
      video.preload = "auto";
      video.src = settings.url;
      // What is still waiting to play is refused at the end too: that is our own doing.
      video.play().catch((error) => report.ended || note("play_refused", state(), String(error)));
    }
    await over;
    report.duration = Number.isFinite(video.duration) ? video.duration : null;
    report.waits_for = {ready_state: video.readyState, network_state: video.networkState};
    dash?.reset();
    video.pause();
    video.removeAttribute("src");
    video.load();
  };

  // A model of a player: bytes stand for time, as the bitrate is constant, and nothing is decoded.
  const withoutDecoder = async () => {
    const stopped = new AbortController();
    let received = 0, total = null, playing = false, position = 0, mark = performance.now(), wake = () => {};
    const buffered = () => (total ? (received / total) * settings.length_s : 0);
    const move = () => {
      const now = performance.now();
      if (playing) position = Math.min(position + (now - mark) / 1e3, buffered());
      mark = now;
    };
    const state = () => {
      const has = buffered();
      return {position, ahead: has - position, loaded: has, height: settings.heights[0], decoded: null, dropped: null};
    };
    const over = watched(state, (stop) => {
      const clock = setInterval(() => {
        move();
        const left = buffered() - position;
        if (received === total && left <= 0) {
          note("ended", state());
          stop("ended");
        } else if (playing && left <= 0) {
          playing = false;
          note("waiting", state());
        } else if (!playing && total && (left >= settings.start_s || received === total)) {
          if (!report.events.some((event) => event[1] === "first_frame")) note("first_frame", state());
          playing = true;
          note("playing", state());
        }
        if (left < settings.buffer_s) wake();
        if (report.ended) clearInterval(clock);
        if (report.error) stop("error");
      }, 10);
    });
    const load = async () => {
      const response = await fetch(settings.url, {cache: "no-store", credentials: "omit", signal: stopped.signal});
      if (!response.ok) throw new Error(`status ${response.status}`);
      total = Number(response.headers.get("Content-Length"));
      if (!total) throw new Error("the server does not say how long the file is");
      note("loadedmetadata", state());
      const reader = response.body.getReader();
      for (;;) {
        const {done, value} = await reader.read();
        if (done) break;
        received += value.byteLength;
        while (buffered() - position >= settings.buffer_s && received < total && !report.ended)
          await new Promise((resolve) => (wake = resolve));
      }
    };
    load().catch((error) => {
      if (!report.ended) report.error = `the file could not be loaded: ${error}`;
    });
    await over;
    stopped.abort();
    wake();
    report.duration = settings.length_s;
  };

  await (settings.player === "model" ? withoutDecoder() : withElement());
  return report;
}
