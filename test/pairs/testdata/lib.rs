// Rust, as kernels have it: no standard library.
#![no_std]
#[repr(C)] pub struct Shared { a: u32, b: [u8; 3], next: *mut Shared }
pub enum Choice { One(u32), Two { x: u64 }, Three }
pub union Either { a: u32, b: f32 }
#[no_mangle] pub extern "C" fn rust_function(s: &Shared, n: u64) -> u32 { s.a + n as u32 + s.b[0] as u32 }
#[no_mangle] #[inline(never)] pub fn rust_choice(c: Choice) -> u64 { match c { Choice::One(a) => a as u64, Choice::Two { x } => x, Choice::Three => 3 } }
#[no_mangle] pub static mut EITHER: Either = Either { a: 1 };
#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
