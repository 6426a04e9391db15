"""How Codex is asked for its names, and for what it says of files when it starts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from support.recorded_checks import Case, place_case

OWN_KEYS = ("name", "description", "developer_instructions", "nickname_candidates")
"""Keys of agent files that the probes need themselves."""

ROLE = 'name = "n{}"\ndescription = "d"\ndeveloper_instructions = "x"\n{}\n'
NO_VALUE = "[[1.5]]"
"""A value that fits no key: a known key stops Codex, an unknown one is ignored."""

HIDDEN_BELOW = (
    "features.credential_masking",
    "features.network_proxy.credentials",
    "features.network_proxy.credential_broker",
    "features.multi_agent_v2.message_board_remote",
)
"""Nested keys that a project's config.toml is known to lose. Others are not searched for."""

_NOISE = re.compile(
    r"^(MCP (client|startup)|Codex could not update marketplace|!)|timed out after|failed to start"
)
"""Messages about the missing network."""

_STARTUP_SECONDS = 60
_JOBS = 4


class Recorder:
    """One version of Codex. `sandbox` starts it (`tests/recorded/refresh.py`)."""

    def __init__(self, sandbox: Any) -> None:
        self._sandbox = sandbox
        self.version = self._output("--version").split()[-1]

    # -- what it says

    def says(self, case: Case) -> Mapping[str, Any]:
        """Return what Codex says when it is started in each of the folders of a case."""
        fatal, messages = None, list[str]()
        for start in case.get("starts", ["."]):
            answer_fatal, answer = self._session(case, start)
            fatal = fatal if answer_fatal is None else answer_fatal
            messages += [each for each in answer if each not in messages]
        return {"fatal": fatal, "messages": messages}

    def _session(self, case: Case, start: str) -> tuple[str | None, list[str]]:
        """Start a session and read its messages until the first turn begins."""
        root = Path(tempfile.mkdtemp(dir=self._sandbox.folder))
        home, project = place_case(case, root)
        self._trust(home, project, (".", *case.get("starts", ["."])))
        arguments = ("exec", "--skip-git-repo-check", "--json", "hi")
        with subprocess.Popen(
            self._sandbox.command(self._environment(home), *arguments),
            cwd=project / start,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            clock = threading.Timer(_STARTUP_SECONDS, process.kill)
            clock.start()
            assert process.stdout is not None
            assert process.stderr is not None
            has_started, messages = _read_events(process.stdout)
            process.kill()
            errors = process.stderr.read().decode("utf-8", "replace")
            clock.cancel()
        shutil.rmtree(root, ignore_errors=True)

        def shown(text: str) -> str:
            text = text.replace(f"{project}/", "").replace(f"{home}/", "~/")
            return re.sub(r"\n\s*", "; ", text.strip())

        kept = [each for each in dict.fromkeys(map(shown, messages)) if not _NOISE.search(each)]
        if has_started:
            return None, kept
        noise = ("WARNING: proceeding", "Reading additional")
        lines = [each for each in errors.splitlines() if not each.startswith(noise)]
        return shown(re.sub(r"^Error( loading config\.toml)?: ", "", "\n".join(lines)[:1500])), kept

    @staticmethod
    def _trust(home: Path, project: Path, folders: Iterable[str]) -> None:
        config = home / ".codex" / "config.toml"
        before = config.read_text(encoding="utf-8") if config.exists() else ""
        trusted = dict.fromkeys(os.path.normpath(project / each) for each in folders)
        rows = (f'[projects.{json.dumps(each)}]\ntrust_level = "trusted"\n' for each in trusted)
        text = before + ("" if before.endswith("\n") or not before else "\n") + "".join(rows)
        config.write_text(text, encoding="utf-8")

    # -- names

    def names(self, before: dict[str, Any], *, is_quick: bool) -> dict[str, Any]:
        """Return the keys, flags, models and other names that this version knows."""
        known = list(before["keys"])
        new = [] if is_quick else self._keys_among(self._words(known))
        types = self._types([*known, *new])
        keys = {
            key: before["keys"][key] if key in OWN_KEYS else types[key]
            for key in [*known, *new]
            if key in OWN_KEYS or "unknown field" not in types[key]["type"]
        }
        rows = [row.split() for row in self._output("features", "list").splitlines()]
        features = {row[0]: " ".join(row[1:-1]) for row in rows if len(row) > 2}
        models = json.loads(self._output("debug", "models"))["models"]
        return {
            "codex": self.version,
            "keys": keys,
            "features": features,
            "models": {
                model["slug"]: [each["effort"] for each in model["supported_reasoning_levels"]]
                for model in models
            },
            "former_features": {
                name: present
                for name, present in before.get("former_features", {}).items()
                if self._is_former_name(name)
            },
            "project_ignored": self._ignored_in_projects(keys),
            "feature_tables": self._table_features(features),
        }

    def _words(self, known: Sequence[str]) -> list[str]:
        """Return the identifiers in the program, and what stands between known names in its strings."""
        content = Path(self._sandbox.program).read_bytes()
        found = re.findall(rb"(?<![A-Za-z0-9_])[a-z][a-z0-9_]{2,44}(?![A-Za-z0-9_])", content)
        words = {each.decode() for each in found}
        split = re.compile("|".join(sorted(map(re.escape, known), key=len, reverse=True)))
        for run in re.findall(rb"[a-z][a-z0-9_]{60,4000}", content):
            parts = split.split(run.decode())
            words |= {each for each in parts if len(parts) > 5 and 3 <= len(each) <= 45}
        return sorted(each for each in words - {*known} if re.fullmatch(r"[a-z]\w*[a-z0-9]", each))

    def _keys_among(self, words: Sequence[str]) -> list[str]:
        """Return the words that are keys: each stops Codex, so they are found by halving."""
        text = "".join(f"{word} = {NO_VALUE}\n" for word in words)
        if not words or self._loads(text):
            return []
        half = len(words) // 2
        if not half:
            return list(words)
        return self._keys_among(words[:half]) + self._keys_among(words[half:])

    def _types(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the type of each key, and its words if it has some, from the faults of agent files."""
        probed = [key for key in keys if key not in OWN_KEYS]
        numbers = self._role_faults([f"{key} = 1.5" for key in probed])
        words = self._role_faults([f'{key} = "zzz"' for key in probed])
        types: dict[str, dict[str, Any]] = {}
        for index, key in enumerate(probed):
            message = numbers.get(index, "accepted").split("\n")[0]
            expected = re.search(r"expected (.*)$", message)
            types[key] = {"type": expected[1] if expected else message}
            variants = re.search(
                r"unknown variant `zzz`, expected (?:one of )?(.*)",
                words.get(index, "").split("\n")[0],
            )
            if variants:
                types[key]["words"] = re.findall(r"`([^`]+)`", variants[1])
        return types

    def _role_faults(self, bodies: Sequence[str]) -> dict[int, str]:
        """Return the messages of agent files with these bodies, by their numbers."""
        files = {
            f".codex/agents/w{index:06d}.toml": ROLE.format(index, body)
            for index, body in enumerate(bodies)
        }
        faults = {}
        for message in self._doctor(files).get("startup warning", []):
            match = re.search(r"/w(\d{6})\.toml:?(.*)", message, re.S)
            if match:
                faults[int(match[1])] = match[2].strip()
        return faults

    def _ignored_in_projects(self, keys: Iterable[str]) -> list[str]:
        probes = [f"{key} = {NO_VALUE}\n" for key in keys if key not in OWN_KEYS]
        probes += [f"{key} = {{}}\n" for key in HIDDEN_BELOW]
        ignored = list[str]()
        for text in probes:
            for message in self._doctor({".codex/config.toml": text}).get("startup warning", []):
                match = re.search(
                    r"Ignored unsupported project-local config keys in [^:]*: (.*?)\. If you",
                    message,
                )
                ignored += match[1].split(", ") if match else []
        return ignored

    def _is_former_name(self, name: str) -> bool:
        files = {".codex/config.toml": f"[features]\n{name} = true\n"}
        return any(name in each for each in self._doctor(files).get("legacy feature flag", []))

    def _table_features(self, features: Iterable[str]) -> list[str]:
        names = sorted(name for name in features if "." not in name)
        with ThreadPoolExecutor(_JOBS) as pool:
            return [
                name
                for name, takes in zip(names, pool.map(self._takes_table, names), strict=True)
                if takes
            ]

    def _takes_table(self, feature: str) -> bool:
        text = f"[features]\n{feature} = {{ enabled = true }}\n"
        return "expected a boolean" not in self._load(text).stderr.decode("utf-8", "replace")

    def _doctor(self, files: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the details of `codex doctor` about the settings of a trusted project."""
        root = Path(tempfile.mkdtemp(dir=self._sandbox.folder))
        home, project = place_case({"files": files}, root)
        self._trust(home, project, ["."])
        done = self._sandbox.call(self._environment(home), project, "doctor", "--json")
        shutil.rmtree(root, ignore_errors=True)
        details = json.loads(done.stdout)["checks"]["config.load"]["details"]
        return {
            name: [value] if isinstance(value, str) else value for name, value in details.items()
        }

    # -- starting it

    def _loads(self, config: str) -> bool:
        return bool(self._load(config).returncode == 0)

    def _load(self, config: str) -> subprocess.CompletedProcess[bytes]:
        home = Path(tempfile.mkdtemp(dir=self._sandbox.folder))
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(config, encoding="utf-8")
        done = self._sandbox.call(self._environment(home), home, "features", "list")
        shutil.rmtree(home, ignore_errors=True)
        outcome: subprocess.CompletedProcess[bytes] = done
        return outcome

    def _output(self, *arguments: str) -> str:
        home = Path(tempfile.mkdtemp(dir=self._sandbox.folder))
        (home / ".codex").mkdir()
        done = self._sandbox.call(self._environment(home), home, *arguments)
        shutil.rmtree(home, ignore_errors=True)
        text: str = done.stdout.decode("utf-8", "replace")
        return text

    @staticmethod
    def _environment(home: Path) -> dict[str, str]:
        return {
            "PATH": "/nonexistent",
            "HOME": str(home),
            "CODEX_HOME": f"{home}/.codex",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }


def _read_events(stream: Iterable[bytes]) -> tuple[bool, list[str]]:
    """Return whether a session has started, and its messages until its first turn."""
    has_started, messages = False, list[str]()
    for line in stream:
        event = json.loads(line) if line.startswith(b"{") else {}
        has_started |= event.get("type") == "thread.started"
        if event.get("type") == "turn.started":
            break
        if event.get("item", {}).get("type") == "error":
            messages.append(event["item"]["message"])
    return has_started, messages
