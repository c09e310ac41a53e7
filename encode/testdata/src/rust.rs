#![no_std]
#![crate_type="staticlib"]
#[panic_handler] fn p(_: &core::panic::PanicInfo) -> ! { loop {} }
#[repr(C)] pub struct R { pub a: u32, pub b: *const R, pub c: [u8; 7] }
pub enum E { A(u32), B { x: u64, y: u8 }, C }
#[no_mangle] pub extern "C" fn rust_fn(r: &R, n: usize) -> u32 { r.a + n as u32 }
#[no_mangle] pub fn rust_enum(e: E) -> u64 { match e { E::A(x) => x as u64, E::B { x, y } => x + y as u64, E::C => 0 } }
