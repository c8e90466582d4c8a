# SPDX-License-Identifier: Apache-2.0
"""A wheel for every Python 3 of a platform: pure Python and the library that CMake built."""
import os
import pathlib
import shutil
import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent


def library() -> pathlib.Path:
    """$RIDGE_LIBRARY, else the newest of build/*/lib in the source tree."""
    name = "libridge_python.dylib" if sys.platform == "darwin" else "libridge_python.so"
    named = os.environ.get("RIDGE_LIBRARY")
    found = [pathlib.Path(named)] if named else list(HERE.parents[1].glob(f"build/*/lib/{name}"))
    found = [path for path in found if path.is_file()]
    if not found:
        sys.exit(f"no {name}: build it first (cmake --build build/release --target "
                 "ridge_python), or name the file in $RIDGE_LIBRARY")
    return max(found, key=lambda path: path.stat().st_mtime)


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        source = library()
        target = pathlib.Path(self.build_lib) / "ridge" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


class PlatformWheel(bdist_wheel):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> "tuple[str, str, str]":
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
