"""No module imports another one that imports it, not even late or for types alone.

The contract of `.importlinter` does the same for whole packages, and leaves out `runtime`, whose packages
use each other; its modules do so in one direction only.
"""

from graphlib import CycleError, TopologicalSorter

import grimp


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("axe_lsp", cache_dir=None)
    rules = "axe_lsp.features.rules"
    for rule in graph.find_children(rules):  # Which it imports by their names in a list.
        graph.add_import(importer=rules, imported=rule)
    imported = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}

    try:
        TopologicalSorter(imported).prepare()
        circle = []
    except CycleError as error:
        circle = error.args[1]

    assert circle == []
