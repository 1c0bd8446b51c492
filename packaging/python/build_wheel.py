"""Builds the wheel with the standard library only: `python3 build_wheel.py <folder>`, or `pip wheel .` without a network."""

import base64
import hashlib
import json
import pathlib
import sys
import zipfile

here = pathlib.Path(__file__).parent
# As pip writes versions: 1.0.0-next.1 is 1.0.0.dev1.
version = json.loads((here / "../../package.json").read_text(encoding="utf-8"))["version"].replace("-next.", ".dev")
info = f"svc_sandbox-{version}.dist-info"
metadata = f"""Metadata-Version: 2.1
Name: svc-sandbox
Version: {version}
Summary: Gives each test its own sandbox of the relying-party API
License: MIT
Requires-Python: >=3.8
Classifier: Framework :: Pytest
"""
wheel = "Wheel-Version: 1.0\nGenerator: svc-sandbox\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
entry_points = "[pytest11]\nsvc_sandbox = svc_sandbox.pytest_plugin\n"


def build_wheel(folder, config_settings=None, metadata_directory=None):
    files = {f"svc_sandbox/{file.name}": file.read_bytes() for file in sorted(here.glob("svc_sandbox/*.py"))}
    texts = {"METADATA": metadata, "WHEEL": wheel, "entry_points.txt": entry_points}
    files.update({f"{info}/{name}": text.encode() for name, text in texts.items()})
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    file = f"svc_sandbox-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # The same bytes each time.
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return file


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
