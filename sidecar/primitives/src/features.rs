//! Extensions of this CPU that the libraries can use.

/// Detected extensions, with their names from the kernel's /proc/cpuinfo or the architecture's manual. The portable build detects none.
pub fn detected() -> Vec<&'static str> {
    if crate::PORTABLE {
        return Vec::new();
    }
    present()
}

#[cfg(target_arch = "x86_64")]
fn present() -> Vec<&'static str> {
    macro_rules! those_of {
        ($($name:tt),*) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),*]
        };
    }
    filter(&those_of!(
        "sse2",
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
    ))
}

#[cfg(target_arch = "aarch64")]
fn present() -> Vec<&'static str> {
    macro_rules! those_of {
        ($($name:tt),*) => {
            [$(($name, std::arch::is_aarch64_feature_detected!($name))),*]
        };
    }
    filter(&those_of!("neon", "aes", "pmull", "sha2"))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn present() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn filter(features: &[(&'static str, bool)]) -> Vec<&'static str> {
    features
        .iter()
        .filter(|(_, present)| *present)
        .map(|(name, _)| *name)
        .collect()
}
