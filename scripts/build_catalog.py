"""The build hook of hatchling: compiles the Korean catalogue, which a wheel carries in the place of its source."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogBuildHook(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Makes each `.mo` that `artifacts` in `pyproject.toml` names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Compile the catalogues beside their sources."""
        package = Path(self.root) / "subtitle_rag"
        compile_changed = runpy.run_path(str(package / "message_catalog.py"))["compile_changed"]
        for po in package.glob("locale/*/LC_MESSAGES/*.po"):
            if compile_changed(po):
                raise OSError(f"{po.with_suffix('.mo')} cannot be written")
