//! A hook for one test: what the kernel still refuses when the guard looks away.
//!
//! It exists in builds with debug assertions only; a release build does not contain it.

#[cfg(debug_assertions)]
pub(crate) fn guard_is_blind() -> bool {
    use std::sync::OnceLock;
    static BLIND: OnceLock<bool> = OnceLock::new();
    *BLIND.get_or_init(|| crate::ambient::variable_is_set("ROOTBOUND_TEST_BLIND_GUARD"))
}

#[cfg(not(debug_assertions))]
pub(crate) const fn guard_is_blind() -> bool {
    false
}
