# SPDX-License-Identifier: Apache-2.0
.PHONY: help setup stacks demo papers unit check test nightly soak lint wheel sbom docs site bench bench-study diagnosis clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: ## make .venv with everything that quiclab needs
	@tools/setup.sh

stacks: setup ## install real clients, servers and proxies into .stacks
	@tools/stacks.sh

demo: setup ## HTTP/3 against HTTP/2 in nine conditions, with a report at the end
	@.venv/bin/quiclab run experiments/demo/spec.toml --out demo-study || test $$? -eq 8  # a cell not judged: told

papers: stacks ## the papers' headline results at their own size, for hours, and docs/papers.md from them
	@.venv/bin/python tools/headlines.py run

unit: ## unit tests, which send no packets, on all processors; those of a room with ROOM=why
	@tools/setup.sh dev
	@.venv/bin/python tools/unit_tests.py $(ROOM)

check: ## what a commit needs: lint of Python, and the unit tests of the rooms that changed since main
	@tools/setup.sh dev
	@tools/check.sh

test: ## from lint to real namespaces with real packets
	@tools/setup.sh dev
	@tools/test.sh

nightly: ## every study's small variant and every combination of programs, for two to three hours
	@tools/setup.sh dev
	@tools/stacks.sh
	@tools/test_programs.sh
	@cargo test --quiet --release --workspace --exclude py-core --locked
	@QUICLAB_REQUIRE=all .venv/bin/python -m pytest -m 'nightly or matrix'

MINUTES ?= 5
soak: ## kills at random instants, full disks, ledgers copied in use, for MINUTES=5, or until KILLS=200
	@tools/setup.sh dev
	@.venv/bin/python tools/soak.py --minutes $(MINUTES) $(if $(KILLS),--kills $(KILLS))

lint: ## formatting, types, import rules
	@tools/setup.sh dev
	@tools/lint.sh

wheel: setup ## one wheel with all that quiclab needs of ours, and the lock of the rest, into dist
	@.venv/bin/python tools/wheel.py dist

sbom: ## write what quiclab is made of, to quiclab.cdx.json (CycloneDX) and quiclab.spdx.json (SPDX)
	@tools/setup.sh dev
	@.venv/bin/python tools/sbom.py quiclab.cdx.json quiclab.spdx.json

docs: ## write anew what is generated: reference pages, outputs of commands, the picture of the report
	@tools/setup.sh dev
	@.venv/bin/python tools/generate_reference.py
	@.venv/bin/python tools/docs_examples.py

site: ## the docs as a site that needs no network: site/index.html
	@tools/site.sh

bench: ## speeds and accuracies, as ratios against named alternatives
	@tools/setup.sh dev
	@.venv/bin/python benches/run_all.py

BLOCKS ?= 100
bench-study: ## trials side by side against one at a time, and whether they are the same, with BLOCKS=100
	@tools/setup.sh dev
	@.venv/bin/python benches/study_speed.py --blocks $(BLOCKS)

SHARD ?= 1/1
diagnosis: ## how often the verdicts on causes are right, for hours: a part of it with SHARD=1/8
	@tools/setup.sh dev
	@.venv/bin/python benches/diagnosis/run.py --set held_out --shard $(SHARD) --out diagnosis-$(subst /,-,$(SHARD)).jsonl
	@.venv/bin/python benches/diagnosis/confirmed_cases.py diagnosis-$(subst /,-,$(SHARD)).jsonl --set held_out --out diagnosis-confirmed-$(subst /,-,$(SHARD)).jsonl
	@.venv/bin/python benches/diagnosis/real.py --shard $(SHARD) --out diagnosis-real-$(subst /,-,$(SHARD)).jsonl

clean: ## remove what was built
	rm -rf .venv .venv-site target dist site demo-study
