//! Extensions of this CPU that the libraries can use.

/// Detected extensions, with their names from the kernel's /proc/cpuinfo or the architecture's manual. The portable build detects none.
pub fn detected() -> Vec<&'static str> {
    if crate::PORTABLE {
        return Vec::new();
    }
    present()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! those_of {
    ($detects:ident: $($name:tt),*) => {{
        let all = [$(($name, std::arch::$detects!($name))),*];
        let present = all.into_iter().filter(|(_, present)| *present);
        present.map(|(name, _)| name).collect()
    }};
}

#[cfg(target_arch = "x86_64")]
fn present() -> Vec<&'static str> {
    those_of!(
        is_x86_feature_detected: "sse2",
        "ssse3",
        "sse4.1",
        "avx",
        "avx2",
        "avx512f",
        "avx512vl",
        "aes",
        "vaes",
        "pclmulqdq",
        "vpclmulqdq",
        "bmi2",
        "adx",
        "sha"
    )
}

#[cfg(target_arch = "aarch64")]
fn present() -> Vec<&'static str> {
    those_of!(is_aarch64_feature_detected: "neon", "aes", "pmull", "sha2")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn present() -> Vec<&'static str> {
    Vec::new()
}
