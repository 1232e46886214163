"""A minimal client of language servers, which requests the references of a symbol."""

import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

#: How each server is started; its settings are in `_configuration`.
COMMANDS = {
    "basedpyright": ["basedpyright-langserver", "--stdio"],
    "ty": ["ty", "server"],
    "pyrefly": ["pyrefly", "lsp", "--indexing-mode", "lazy-blocking"],
}

Place = tuple[str, int]

#: The first request waits for the server to index the whole project.
FIRST_ANSWER_S = 180.0
ANSWER_S = 60.0


def found_servers(folder: Path | None) -> dict[str, list[str]]:
    """The servers in *folder*, or else on the PATH, with the commands that start them."""
    found = {}
    for name, (program, *rest) in COMMANDS.items():
        path = shutil.which(program, path=str(folder) if folder else None)
        if path is not None:
            found[name] = [path, *rest]
    return found


class Server:
    """A language server on one folder; every request has a timeout."""

    def __init__(self, command: list[str], root: Path, python: Path | None) -> None:
        self._root = root
        self._python = python
        self._opened: set[str] = set()
        self._answers: dict[int, Any] = {}
        self._asked = 0
        self._arrived = threading.Condition()
        self._sending = threading.Lock()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env=_environment(python),
        )
        threading.Thread(target=self._listen, daemon=True).start()
        self._initialise()

    def references(self, places: list[tuple[str, int, int]]) -> set[Place] | None:
        """References to the symbols at *places* (file, line, column); None without an answer."""
        found: set[Place] = set()
        for file, line, column in places:
            answer = self._references(file, line, column)
            if answer is None:
                return None
            found |= answer
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _references(self, file: str, line: int, column: int) -> set[Place] | None:
        uri = (self._root / file).as_uri()
        patience = ANSWER_S if self._opened else FIRST_ANSWER_S
        self._open(file, uri)
        answer = self._request(
            "textDocument/references",
            {
                "textDocument": {"uri": uri},
                "position": {"line": line - 1, "character": column},
                "context": {"includeDeclaration": True},
            },
            patience,
        )
        if answer is None:
            return None
        inside = self._root.as_uri() + "/"
        return {
            (found["uri"].removeprefix(inside), found["range"]["start"]["line"] + 1)
            for found in answer
            if found["uri"].startswith(inside)
        }

    def _open(self, file: str, uri: str) -> None:
        if uri in self._opened:
            return
        self._opened.add(uri)
        text = (self._root / file).read_text()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def _initialise(self) -> None:
        root = self._root.as_uri()
        self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": self._root.name}],
                "capabilities": {
                    "workspace": {"configuration": True, "workspaceFolders": True},
                    "textDocument": {"references": {}},
                },
                "initializationOptions": {},
            },
            ANSWER_S,
        )
        self._send({"method": "initialized", "params": {}})

    def _request(self, method: str, params: dict[str, Any], seconds: float) -> Any:
        """The result, an empty list when it is null, None when there was no answer in time."""
        self._asked += 1
        number = self._asked
        self._send({"id": number, "method": method, "params": params})
        ends = time.monotonic() + seconds
        with self._arrived:
            self._arrived.wait_for(
                lambda: number in self._answers or self._process.poll() is not None,
                ends - time.monotonic(),
            )
            return self._answers.pop(number, None)

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        with self._sending:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
            self._process.stdin.flush()

    def _listen(self) -> None:
        while (message := self._received()) is not None:
            if "method" in message and "id" in message:
                answer = self._answered(message["method"], message.get("params") or {})
                self._send({"id": message["id"], "result": answer})
            elif "id" in message:
                with self._arrived:
                    failed = "error" in message
                    self._answers[message["id"]] = None if failed else message["result"] or []
                    self._arrived.notify_all()
        with self._arrived:
            self._arrived.notify_all()

    def _received(self) -> Any:
        stream = self._process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length"):
                length = int(line.partition(b":")[2])
        return json.loads(stream.read(length)) if length else None

    def _answered(self, method: str, params: dict[str, Any]) -> Any:
        if method != "workspace/configuration":
            return None
        return [self._configuration(item.get("section") or "") for item in params["items"]]

    def _configuration(self, section: str) -> dict[str, Any]:
        if section.endswith("analysis"):
            return {
                "autoSearchPaths": True,
                "diagnosticMode": "openFilesOnly",
                "typeCheckingMode": "off",
                "useLibraryCodeForTypes": True,
            }
        if section == "python" and self._python is not None:
            return {"pythonPath": str(self._python)}
        return {}


def _environment(python: Path | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    if python is not None:
        kept["VIRTUAL_ENV"] = str(python.parent.parent)
    return kept
