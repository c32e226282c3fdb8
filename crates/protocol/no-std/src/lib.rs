//! Proof that `driftlock-protocol` makes do with `core` and `alloc`.
//!
//! This library has its own panic handler, and std has one too. Two of them are an error of the compiler ("duplicate
//! lang item `panic_impl`"), so this library builds only while nothing that it links, at any depth, brings std in.

#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr;

use driftlock_protocol as _;

#[cfg(feature = "sneak-std")]
extern crate std;

/// An allocator without memory: `alloc` needs one to be linked, and nothing here ever runs.
struct NoMemory;

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

// SAFETY: a null pointer is how `alloc` reports that it has no memory, and nothing was given out to be taken back.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
