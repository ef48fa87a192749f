"""The stage: what its modules in viz/web are sent, how they are served, and the file as which it leaves the app.

`payload/` makes the message (message.py first), `sentences/` what the stage says, files.py reads the modules that
assets.py serves, and alone.py writes the stage as a file.

`from viz import stage; stage(result)` shows a result in a notebook: the module's class has `__call__`.
"""

import sys
from types import ModuleType
from typing import Any


class _Stage(ModuleType):
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """See `viz.stage.alone.stage`."""
        from viz.stage.alone import stage

        return stage(*arguments, **keywords)


sys.modules[__name__].__class__ = _Stage
