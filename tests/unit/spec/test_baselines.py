# SPDX-License-Identifier: Apache-2.0
"""Arms with lists of programs, and what each of them is compared with."""

from __future__ import annotations

import pathlib
import tomllib

import pytest
from specs import SMALL, only_problem, problems_of, study_of, written

from quiclab.model.errors import SpecError
from quiclab.model.study import Study
from quiclab.spec.counterfactual import PathVariant, Variant, confirming_spec
from quiclab.spec.read import load_spec, read_study
from quiclab.spec.resolved import resolved_json
from quiclab.spec.toml_text import toml_text
from quiclab.spec.two_builds import Build, interleave

_HEAD = SMALL[: SMALL.index("[[arm]]")]
SERVERS = 'server = ["nginx", "caddy"]'
NGINX = 'server = "nginx"'


def arm(name: str, lines: str = SERVERS, client: str = '"curl"') -> str:
    """An arm that is called after its protocol, with its TCP settings where it is of HTTP/2."""
    tcp = 'tcp = {congestion_control = "cubic"}\n' if name.startswith("h2") and "tcp" not in lines else ""
    return f'[[arm]]\nname = "{name}"\nprotocol = "{name[:2]}"\nclient = {client}\n{tcp}{lines}\n'


def spec(*arms: str, study: str = "") -> str:
    """The small spec with other arms, and more keys of its study."""
    return _HEAD.replace("seed = 7", f"seed = 7\n{study}") + "\n".join(arms)


def baselines(study: Study) -> dict[str, str]:
    """Every arm with what it is compared with."""
    return {each.name: study.baseline_of(each) for each in study.measured_arms}


def test_each_variant_is_compared_with_the_baseline_of_its_own_server(tmp_path: pathlib.Path) -> None:
    """A list in both arms: one comparison per server, in every cell."""
    study = study_of(tmp_path, spec(arm("h2"), arm("h3")))
    assert baselines(study) == {
        "h2-nginx": "h2-nginx", "h2-caddy": "h2-caddy", "h3-nginx": "h2-nginx", "h3-caddy": "h2-caddy",
    }  # fmt: skip
    assert study.baseline == "h2-nginx"
    assert [each.name for each in study.compared_arms] == ["h3-nginx", "h3-caddy"]
    assert [each.server.name for each in study.arms] == ["nginx", "caddy", "nginx", "caddy"]


def test_lists_are_what_arms_with_baselines_would_be_by_hand(tmp_path: pathlib.Path) -> None:
    """An arm that another one names is a baseline, and is compared with nothing."""
    hand = spec(
        arm("h2-nginx", NGINX),
        arm("h2-caddy", 'server = "caddy"'),
        arm("h3-nginx", NGINX),
        arm("h3-caddy", 'server = "caddy"\nbaseline = "h2-caddy"'),
    )
    assert resolved_json(study_of(tmp_path, spec(arm("h2"), arm("h3")))) == resolved_json(study_of(tmp_path, hand))


def test_the_order_of_the_values_does_not_matter(tmp_path: pathlib.Path) -> None:
    """Programs are what is matched, and not their places in two lists."""
    turned = study_of(tmp_path, spec(arm("h2"), arm("h3", 'server = ["caddy", "nginx"]')))
    assert baselines(turned)["h3-caddy"] == "h2-caddy"


def test_lists_of_clients_and_servers_make_all_combinations(tmp_path: pathlib.Path) -> None:
    """Names have the values in the order of the file, the last varies fastest."""
    both = '["curl", "curl-cffi"]'
    found = baselines(study_of(tmp_path, spec(arm("h2", client=both), arm("h3", client=both))))
    assert found["h3-curl-cffi-caddy"] == "h2-curl-cffi-caddy"
    assert list(found)[:4] == ["h2-curl-nginx", "h2-curl-caddy", "h2-curl-cffi-nginx", "h2-curl-cffi-caddy"]


def test_a_program_with_settings_is_matched_by_its_name(tmp_path: pathlib.Path) -> None:
    """Settings of HTTP/3 are keys of the program, and settings of HTTP/2 are TCP's."""
    own = 'server = [{name = "nginx", congestion_control = "cubic"}, {name = "caddy", gso = false}]'
    found = baselines(study_of(tmp_path, spec(arm("h2"), arm("h3", own))))
    assert (found["h3-nginx"], found["h3-caddy"]) == ("h2-nginx", "h2-caddy")


def test_an_arm_without_a_list_has_the_baseline_of_its_own_program(tmp_path: pathlib.Path) -> None:
    """An arm with one server is compared with the baseline's variant of that server."""
    found = baselines(study_of(tmp_path, spec(arm("h2"), arm("h3a", NGINX), arm("h3b"))))
    assert (found["h3a"], found["h3b-nginx"], found["h3b-caddy"]) == ("h2-nginx", "h2-nginx", "h2-caddy")


def test_a_baseline_without_a_list_is_that_of_all(tmp_path: pathlib.Path) -> None:
    """Resolved as arms by hand always were, without a key for it."""
    study = study_of(tmp_path, spec(arm("h2", NGINX), arm("h3")))
    assert baselines(study) == {"h2": "h2", "h3-nginx": "h2", "h3-caddy": "h2"}
    assert all("baseline" not in each for each in resolved_json(study)["arms"])  # type: ignore[attr-defined]


def test_variants_of_the_only_arm_are_compared_with_the_first(tmp_path: pathlib.Path) -> None:
    """A list of servers without another arm compares servers."""
    assert baselines(study_of(tmp_path, spec(arm("h3")))) == {"h3-nginx": "h3-nginx", "h3-caddy": "h3-nginx"}


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ('baseline = "h2"', {"h2-nginx": "h2-nginx", "h2-caddy": "h2-caddy", "h3-caddy": "h2-caddy"}),
        ('baseline = "h3"', {"h2-nginx": "h3-nginx", "h2-caddy": "h3-caddy", "h3-caddy": "h3-caddy"}),
        ('baseline = "h2-nginx"', {"h2-nginx": "h2-nginx", "h2-caddy": "h2-nginx", "h3-caddy": "h2-nginx"}),
    ],
)
def test_the_study_names_a_table_or_one_variant(tmp_path: pathlib.Path, key: str, found: dict[str, str]) -> None:
    """A table stands for all of its variants; one variant is the baseline of all others."""
    study = study_of(tmp_path, spec(arm("h2"), arm("h3"), study=key))
    assert found.items() <= baselines(study).items()


def test_names_and_baselines_may_be_given(tmp_path: pathlib.Path) -> None:
    """One for each variant; programs need not be the same then."""
    own = arm("h3", 'server = ["h2o", "ols"]\nbaseline = ["h2-caddy", "h2-nginx"]').replace(
        'name = "h3"', 'name = ["a", "b"]'
    )
    found = baselines(study_of(tmp_path, spec(arm("h2"), own)))
    assert (found["a"], found["b"]) == ("h2-caddy", "h2-nginx")


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (
            (arm("h2"), arm("h3", 'server = ["nginx", "caddy", "h2o"]')),
            ["arm[h3]", 'has the server of "h3-h2o"', "h2-n"],
        ),
        ((arm("h2"), arm("h3", NGINX)), ["arm[h2]", 'nothing is compared with "h2-caddy"', "take it out"]),
        ((arm("h2"), arm("h3", f'{SERVERS}\nbaseline = "h4"')), ["arm[h3].baseline", "no arm is called so"]),
        (
            (arm("h2", NGINX), arm("h2b", f'{NGINX}\nbaseline = "h2"'), arm("h3", f'{NGINX}\nbaseline = "h2b"')),
            ["arm[h3].baseline", '"h2b" is itself compared with "h2"'],
        ),
        ((arm("h2"), arm("h3", 'server = ["nginx", "nginx"]')), ["arm[h3].server[#2]", "write each value once"]),
        (
            (arm("h2"), arm("h3", 'server = [{name = "nginx", gso = true}, {name = "nginx", gso = false}]')),
            ["arm[h3].name", "write name ="],
        ),
    ],
)
def test_an_unclear_baseline_is_refused_with_what_to_write(
    tmp_path: pathlib.Path, arms: tuple[str, ...], told: list[str]
) -> None:
    """Nothing is compared with a baseline of other programs by accident, and nothing runs in vain."""
    problem = only_problem(tmp_path, spec(*arms))
    assert all(part in problem for part in told), problem


def test_an_arm_that_only_competes_has_no_baseline(tmp_path: pathlib.Path) -> None:
    """An arm that only competes is compared with nothing."""
    told = problems_of(
        tmp_path, spec(arm("h2", NGINX), arm("h3", f'{NGINX}\nbaseline = "h2"\nonly_for = "competition"'))
    )
    assert any("arm[h3].baseline: an arm that only competes is compared with nothing" in each for each in told), told


def test_an_arm_takes_the_tcp_settings_of_its_own_baseline(tmp_path: pathlib.Path) -> None:
    """The baseline of an arm, and no other arm that comes first, gives it its settings."""
    first = arm("h2-other", f'{NGINX}\nbaseline = "h2-other"\ntcp = {{congestion_control = "reno"}}')
    compared = arm("h3-other", f'{NGINX}\nbaseline = "h2-other"')
    study = study_of(tmp_path, spec(first, compared, arm("h2"), arm("h3"), study='baseline = "h2"'))
    found = {each.name: each.tcp.congestion_control for each in study.arms}
    assert (found["h3-other"], found["h3-nginx"], found["h3-caddy"]) == ("reno", "cubic", "cubic")


def test_specs_that_are_made_of_one_have_its_variants(tmp_path: pathlib.Path) -> None:
    """A confirming run and two builds in the same blocks name each other's arms, and no baseline that is not there."""
    file = written(tmp_path, spec(arm("h2"), arm("h3", f'{SERVERS}\nbaseline = "h2"')))
    study = read_study(file)
    variants = [Variant("replay", "h3-caddy"), Variant("with", "h3-caddy")]
    own = {"name": "again", "seed": 3, "blocks": 6, "baseline": "replay"}
    document = Build(file, study).document()
    made = confirming_spec(
        document, study, cell=("100KB", "plain"), arms=variants, paths=[PathVariant("plain")], own=own
    )
    (tmp_path / "made").mkdir()
    again = study_of(tmp_path / "made", made)
    assert [(each.name, each.server.name, each.baseline) for each in again.arms] == [
        ("replay", "caddy", None), ("with", "caddy", None),
    ]  # fmt: skip
    assert {each.tcp.congestion_control for each in again.arms} == {"cubic"}
    both = interleave(Build(file, study), Build(file, study), ["h3-caddy"], None)
    assert [each["name"] for each in tomllib.loads(both)["arm"]] == ["h3-caddy-old", "h3-caddy-new"]


def test_a_document_with_lists_is_written_anew_as_the_same_study(tmp_path: pathlib.Path) -> None:
    """Variants one by one keep their baselines by name, as programs need not be the same."""
    file = written(tmp_path, spec(arm("h2"), arm("h3", f'{SERVERS}\nbaseline = ["h2-caddy", "h2-nginx"]')))
    before = resolved_json(read_study(file))
    assert baselines(read_study(file))["h3-nginx"] == "h2-caddy"
    arms = load_spec(file).document["arm"]
    assert [each.get("baseline") for each in arms] == [None, None, "h2-caddy", "h2-nginx"]
    assert resolved_json(study_of(tmp_path, toml_text(load_spec(file).document))) == before


def test_keys_of_a_program_make_variants_too(tmp_path: pathlib.Path) -> None:
    """They are compared with the variant of the same value, or with the only baseline."""
    windows = 'server = {name = "quinn", initial_window = [10, 32]}'
    alone = study_of(tmp_path, spec(arm("h2", NGINX), arm("h3", windows)))
    assert baselines(alone) == {"h2": "h2", "h3-10": "h2", "h3-32": "h2"}
    assert [each.server.knobs.initial_window for each in alone.arms[1:]] == [10, 32]
    both = study_of(tmp_path, spec(arm("h3a", windows), arm("h3b", windows)))
    assert baselines(both)["h3b-32"] == "h3a-32"


_KNOWN = {"client": ("curl", "wget"), "server": ("nginx", "caddy"), "proxy": ("haproxy",)}


def _told(folder: pathlib.Path, *lines: str, name: str = '"h2"') -> tuple[str, ...]:
    """The problems of an arm of HTTP/2 with these lines, beside a right one, where the programs are known."""
    own = "\n".join((f"name = {name}", 'protocol = "h2"', 'tcp = {congestion_control = "cubic"}', *lines))
    wrong = f"[[arm]]\n{own}\n"
    with pytest.raises(SpecError) as caught:
        read_study(written(folder, spec(wrong, arm("h3", NGINX))), _KNOWN)
    return caught.value.problems


@pytest.mark.parametrize("name", ['"h2"', '["a"]'], ids=["one name", "too few names"])
@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (('client = "curl"', 'server = ["ngnix", "nginx", "nonsense"]'), ("ngnix", "nonsense")),
        (('client = ["crul", "curl"]', 'server = ["nginx", "nonsense"]'), ("crul", "nonsense")),
        (
            ('client = [{name = "curl", gsoo = true}, {name = "curl", gso = 5}, {name = "crul"}]', NGINX),
            ("gsoo", "5 is a whole number", "crul"),
        ),
        (
            ('client = [{name = "curl"}, {name = "curl", gso = 5}]', 'server = ["nginx", {name = "nonsense"}, 7]'),
            ("5 is a whole number", "nonsense", "7 is a whole number"),
        ),
        (('client = "curl"', 'server = [["nginx"], "nonsense"]'), ("an array stands here", "nonsense")),
        (('client = "curl"', NGINX, 'proxy = [{argv = []}, {name = "hproxy"}]'), ("0 elements", "hproxy")),
    ],
)
def test_every_wrong_program_of_a_list_is_told_at_once(
    tmp_path: pathlib.Path, name: str, lines: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    """Each once, and at its place in the list: also where the variants cannot be named, which is one more problem."""
    problems = _told(tmp_path, *lines, name=name)
    for each in wrong:
        assert sum(each in problem for problem in problems) == 1, (each, problems)
    assert not any("already the name" in problem or "missing" in problem for problem in problems), problems


@pytest.mark.parametrize("key", ["client", "server"])
@pytest.mark.parametrize("beside", ["", 'proxy = ["haproxy", "hproxy"]'])
def test_an_empty_list_of_programs_is_one_problem(tmp_path: pathlib.Path, key: str, beside: str) -> None:
    """The program is not told as missing as well, and what is wrong beside it is told too."""
    other = {"client": NGINX, "server": 'client = "curl"'}[key]
    problems = _told(tmp_path, f"{key} = []", other, beside)
    assert len(problems) == 1 + bool(beside), problems
    assert any(f".{key}: the list is empty" in problem for problem in problems)
    assert not beside or any("hproxy" in problem for problem in problems)


def test_an_empty_list_in_a_table_of_a_program_is_one_problem(tmp_path: pathlib.Path) -> None:
    """A table that has a name, though an empty one, lacks none."""
    (problem,) = _told(tmp_path, 'client = "curl"', "server = {name = []}")
    assert "the list is empty" in problem


def test_what_lacks_in_every_variant_is_one_problem(tmp_path: pathlib.Path) -> None:
    """A missing client, in an arm with two servers."""
    (problem,) = _told(tmp_path, 'server = ["nginx", "caddy"]')
    assert '"client" is missing' in problem
