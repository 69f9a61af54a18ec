# Demo and tests share cargo's dev profile, so that both together compile dependencies once.

TARGET := $(or $(CARGO_TARGET_DIR),target)
GUEST := --manifest-path guest-tools/Cargo.toml --target-dir $(TARGET)/guest

# What the tests are built with; the program that `make build` makes has `oci` alone.
TESTED := --features otel,oci

define HELP
make demo    a tour: what a tool may do, and what it is refused
make test    formatting, lints, documentation, dependencies, and the tests of all crates
make test-clients  the official MCP clients against the built program, and other hosts
                   with our component
make test-examples the examples of tools, and a new one, each by its own test
make test-registry pulling from a registry, and from what only looks like one
make test-package  the crate as it is published, and its component built elsewhere again
make build   the release binary, $(TARGET)/release/rootbound
make bench   benchmarks
make setup   install what building the guest needs; the others do it by themselves
make clean   remove everything that was built
endef

.PHONY: help demo test test-clients test-examples test-registry test-package build bench setup clean

help:
	$(info $(HELP))
	@:

demo: setup
	cargo build --locked
	scripts/demo $(TARGET)/debug/rootbound

# What runs without a state directory of its own must not use that of the user.
test: export XDG_STATE_HOME := $(abspath $(TARGET))/tmp/state
test: setup
	scripts/test-prerequisites
	scripts/lint
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps $(TESTED)
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --package rootbound-tool $(GUEST)
	scripts/check-dependencies
	cargo test --locked --workspace $(GUEST)
	cargo test --locked $(TESTED)
	cargo run --quiet --locked $(TESTED) --example embed >/dev/null

test-clients: setup
	scripts/test-prerequisites clients
	cargo build --locked
	tests/clients/run $(TARGET)/debug/rootbound
	tests/hosts/run $(TARGET)/rootbound/file-tools.wasm

test-examples: setup
	scripts/test-prerequisites clients
	cargo build --locked
	tests/examples/run $(TARGET)/debug/rootbound

test-registry: setup
	scripts/test-prerequisites registry
	cargo build --locked $(TESTED)
	tests/registry/run $(TARGET)/debug/rootbound $(TARGET)/rootbound/file-tools.wasm

test-package: setup
	scripts/package
	scripts/package --rebuild

build: setup
	cargo build --locked --release --features oci

bench: setup
	cargo bench --locked

setup:
	scripts/build-guest --install --target-dir $(TARGET)/guest

clean:
	cargo clean
