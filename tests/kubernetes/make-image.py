"""make-image.py IMAGE TAR: writes an image as `docker save` does, of one layer: no registry, no Docker.

IMAGE is `pause`, `operator` or `windtunnel`. The last has what the stage `runner` of docker/Dockerfile has,
as far as files of this machine can be in its place: busybox for Debian's tools.
"""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ROOT / "bin" / "kubernetes"
BUSYBOX = PARTS / "debian" / "bin" / "busybox"
# Programs that k6-operator's initializer and starter call, or that a user needs to download results.
TOOLS = ["cat", "dirname", "grep", "ls", "mkdir", "rm", "sh", "sleep", "tar", "touch"]


class Layer:
    """The files of an image."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        self.tar = tarfile.TarFile(fileobj=self.bytes, mode="w")

    def add(self, entry: tarfile.TarInfo, content: bytes = b"") -> None:
        entry.size = len(content)
        self.tar.addfile(entry, io.BytesIO(content))

    def folder(self, path: str, mode: int = 0o755) -> None:
        entry = tarfile.TarInfo(path.strip("/"))
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self.add(entry)

    def link(self, path: str, target: str) -> None:
        entry = tarfile.TarInfo(path.strip("/"))
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self.add(entry)

    def file(self, path: str, source: Path) -> None:
        entry = tarfile.TarInfo(path.strip("/"))
        entry.mode = 0o755 if os.access(source, os.X_OK) else 0o644
        self.add(entry, source.read_bytes())

    def tree(self, path: str, source: Path) -> None:
        if source.is_file():
            self.file(path, source)
            return
        for found in sorted(source.rglob("*")):
            if found.is_file():
                self.file(f"{path}/{found.relative_to(source)}", found)


def libraries(program: Path) -> list[Path]:
    """The shared libraries that a program is linked with, the loader among them."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(path) for path in sorted(set(re.findall(r"(/lib\S+) \(0x", text)))]


def copied() -> list[tuple[str, str]]:
    """Files that the stage `runner` copies from the checkout: source and path below its working folder."""
    text = (ROOT / "docker" / "Dockerfile").read_text()
    stage = text.split(" AS runner\n")[1].split("\nFROM ")[0]
    return re.findall(r"^COPY ([^-\s]\S*) (\S+)$", stage, re.MULTILINE)


def windtunnel(layer: Layer) -> None:
    curl = Path("/usr/bin/curl")
    layer.folder("/tmp", 0o1777)
    layer.folder("/windtunnel/results", 0o1777)
    layer.file("/bin/busybox", BUSYBOX)
    for tool in TOOLS:
        layer.link(f"/bin/{tool}", "busybox")
    layer.file("/usr/bin/curl", curl)
    # It is linked with no library (CGO_ENABLED in the Makefile).
    layer.file("/windtunnel/bin/k6", ROOT / "bin" / "k6")
    for library in libraries(curl):
        layer.file(str(library), library.resolve())
    for source, path in copied():
        layer.tree(f"/windtunnel/{path}", ROOT / source)


def pause(layer: Layer) -> None:
    layer.file("/bin/busybox", BUSYBOX)


def operator(layer: Layer) -> None:
    layer.folder("/tmp", 0o1777)
    layer.file("/manager", PARTS / "k6-operator")


# For each image: how it is made, which program it runs, and as which user.
IMAGES = {
    "pause": (pause, ["/bin/busybox", "sleep", "infinity"], "65535"),
    "operator": (operator, ["/manager"], "65532"),
    "windtunnel": (windtunnel, ["k6"], "1000"),
}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write(image: str, path: Path) -> None:
    make, command, user = IMAGES[image]
    layer = Layer()
    make(layer)
    layer.tar.close()
    files = layer.bytes.getvalue()
    config = {
        "architecture": os.environ.get("GOARCH", "amd64"),
        "os": "linux",
        "config": {
            "Entrypoint": command,
            "Env": ["PATH=/windtunnel/bin:/usr/bin:/bin", "HOME=/tmp"],
            "User": user,
            "WorkingDir": "/windtunnel" if image == "windtunnel" else "/",
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(files)}"]},
    }
    text = json.dumps(config).encode()
    names = {
        "Config": f"{digest(text)}.json",
        "RepoTags": [f"localhost/{image}:test"],
        "Layers": [f"{digest(files)}/layer.tar"],
    }
    archive = Layer()
    for name, content in (
        (names["Config"], text),
        (names["Layers"][0], files),
        ("manifest.json", json.dumps([names]).encode()),
    ):
        archive.add(tarfile.TarInfo(str(name)), content)
    archive.tar.close()
    path.write_bytes(archive.bytes.getvalue())


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in IMAGES:
        sys.exit(f"make-image.py: give one of {', '.join(IMAGES)}, and the file to write")
    write(sys.argv[1], Path(sys.argv[2]))
