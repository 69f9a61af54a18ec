"""The typed `files` of the component in a Python program, with `wasmtime` from PyPI."""

from wasmtime import Engine, Store, WasiConfig
from wasmtime.component import Component, Linker


class Files:
    """One instance, with one directory to read and one to write."""

    def __init__(self, component, read, write):
        engine = Engine()
        linker = Linker(engine)
        linker.add_wasip2()
        wasi = WasiConfig()
        wasi.preopen_dir(read, "/read/0", False)
        wasi.preopen_dir(write, "/write")
        self.store = Store(engine)
        self.store.set_wasi(wasi)
        self.instance = linker.instantiate(self.store, Component.from_file(engine, component))
        self.interface = self.instance.get_export_index(self.store, "rootbound:tools/files@0.1.0")

    def call(self, name, *arguments):
        """A function by its name in the WIT; records come as objects, bytes as `bytes`."""
        index = self.instance.get_export_index(self.store, name, self.interface)
        function = self.instance.get_func(self.store, index)
        result = function(self.store, *arguments)
        function.post_return(self.store)
        return result
