//! The default store.
