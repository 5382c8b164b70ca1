# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference about mechanisms, a list and a page each; `generate_reference.py` writes them."""

from __future__ import annotations

from quiclab.model.mechanism_names import names_of
from quiclab.why.mechanisms import BY_NAME, MECHANISMS, Family, Mechanism, Setting

_HEAD = """\
# Causes

Mechanisms by which a transfer loses time. Each is held against the account of every trial
([what that is](../explanation/account.md)) and claims stretches of it. A stretch belongs to the first that claims it,
in the order in which quiclab asks them. What none claims has an unknown cause, or several that the records do not tell
apart: `window`, `awaiting_acks`, `contested`, `pacing_or_program` and `unexplained` stay without one, but for windows
that a mark reduced. The numbers behind a claim are in the table `mechanism_facts`.

*Level* is the least evidence that can show it: E0 needs both ends, the link's log and the endpoints' logs, E1 the
client's capture with its keys. *Taken away by* names keys of a spec: `sender` is the program that sends the bodies
(server or proxy; of an upload the client), `receiver` the other one. With `none` a path lacks the effect. What else a
key changes is no proof of the mechanism.

"""
_GENERATED = "generated from the source by `tools/generate_reference.py`.\n"


def causes_pages() -> dict[str, str]:
    """Return the list of mechanisms, and the page of each, by their paths in docs/reference."""
    parts = [f"{_HEAD}These pages are {_GENERATED}"]
    for family in Family:
        parts += [f"\n## {_capital(family)}\n", "| cause | in words | shows as |", "|---|---|---|"]
        for each in (mechanism for mechanism in MECHANISMS if mechanism.family is family):
            shown = (each.title, each.shows)
            parts.append(f"| [`{each.name}`](causes/{each.name}.md) | {' | '.join(map(_cell, shown))} |")
    return {"causes.md": "\n".join(parts) + "\n"} | {f"causes/{each.name}.md": _page(each) for each in MECHANISMS}


def _page(of: Mechanism) -> str:
    """A mechanism by itself: its definition, its signs, its rivals, and the settings that take it away."""
    end = f"Family: {of.family}; [all causes](../causes.md). This page is {_GENERATED}"
    return f"# {_capital(of.title)}\n{_section(of)}\n{end}"


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _section(of: Mechanism) -> str:
    lines = [
        f"\n**`{of.name}`.** {of.what}\n",
        f"* **Shows as**: {of.shows}",
        f"* **Level**: {of.level.name}",
    ]
    if len(of.transports) == 1:
        lines.append(f"* **Only over** {next(iter(of.transports))}")
    if of.rivals:
        lines.append("* **Told apart from**:")
        lines += [
            f"  * *{BY_NAME[rival.name].title}* ([`{rival.name}`]({rival.name}.md)): {rival.told_apart_by}"
            for rival in of.rivals
        ]
    if of.follows is not None:
        above = ", ".join(f"[`{name}`]({name}.md)" for name in of.follows.upstream)
        numbers = [*of.follows.more, *of.follows.less]
        shown = " and ".join(name.replace("_", " ") for name in numbers)
        lines.append(f"* **Follows from** one of these, where the arms have as much of it ({shown}): {above}")
    if of.divides is not None:
        whole = ", ".join(f"[`{name}`]({name}.md)" for name in of.divides.mechanisms)
        number = of.divides.by.replace("_", " ")
        lines.append(f"* **Part of** these, and told apart where the arms differ in it ({number}): {whole}")
    lines += ["* **Taken away by**:", *map(_setting, of.settings)] if of.settings else ["* **Taken away by**: no key"]
    *former, _ = names_of(of.name)
    lines += [f"* **Called** `{name}` by earlier versions, a name that is still understood" for name in former]
    return "\n".join([*lines, f"* **Source**: {of.source}\n"])


def _setting(of: Setting) -> str:
    also = f" Also changes: {'; '.join(of.also_changes)}." if of.also_changes else ""
    doses = (
        f" From the most of it to the least: {', '.join(f'`{_toml(each)}`' for each in of.doses)}." if of.doses else ""
    )
    levels = " The arm keeps as much of it as another one has." if of.levels else ""
    return f"  * `{of.table}`: `{of.key} = {_toml(of.value)}`. {of.gain}{levels}{also}{doses}"


def _toml(value: str | float | tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
