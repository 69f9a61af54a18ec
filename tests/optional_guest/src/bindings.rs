//! Generated from `wit/` and `host/wit/`: files, what is granted by name, and the network.
#![allow(
    unsafe_code,
    clippy::all,
    reason = "generated; calls across the component boundary pass raw pointers"
)]

wit_bindgen::generate!({
    path: ["../../wit", "../../host/wit"],
    inline: "
        package test:optional-guest;

        world guest {
            include rootbound:tools/tool-component@0.1.0;
            include rootbound:host/optional-imports@0.1.0;
            import wasi:sockets/instance-network@0.2.12;
            import wasi:sockets/ip-name-lookup@0.2.12;
            import wasi:sockets/network@0.2.12;
            import wasi:sockets/tcp@0.2.12;
            import wasi:sockets/tcp-create-socket@0.2.12;
        }
    ",
    world: "test:optional-guest/guest",
    generate_all,
});

export!(Component with_types_in self);

use crate::Component;
