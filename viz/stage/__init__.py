"""The stage: what it is told (message.py first), the JavaScript that draws it (stage.js), and the file it leaves as.

`from viz import stage; stage(result)` shows a result in a notebook (`viz.stage.alone.stage`): the class of the module
has `__call__` (language reference, "Customizing module attribute access"). Nothing is imported before the call.
"""

import sys
from types import ModuleType
from typing import Any


class _Stage(ModuleType):
    def __call__(self, *given: Any, **named: Any) -> Any:
        """Show a result, or the attention of any other model: see `viz.stage.alone.stage`."""
        from viz.stage.alone import stage

        return stage(*given, **named)


sys.modules[__name__].__class__ = _Stage
