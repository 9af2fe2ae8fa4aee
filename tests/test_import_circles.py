"""No modules import each other in a circle; imports for types and inside functions count too, and front doors."""

from graphlib import TopologicalSorter

import grimp

from tests.test_front_doors import DOORS, listed


def test_imports_have_an_order() -> None:
    graph = grimp.build_graph("subtitle_rag", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    for door in DOORS:
        imports[door] |= {module for module, _name in listed(door)}

    assert any(imports.values())
    TopologicalSorter(imports).prepare()
