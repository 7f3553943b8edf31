//! Enumerations whose variants have a description in words.

/// Declares an enumeration. Each variant has a number in the C interface, a description in words, and documentation.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant = $number,)+
        }

        impl $name {
            /// Every variant, in the order of the numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Returns the variant with this number in the C interface.
            pub const fn from_number(number: u32) -> Option<$name> {
                match number {
                    $($number => Some($name::$variant),)+
                    _ => None,
                }
            }

            /// Returns the description in words.
            pub const fn text(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            /// Returns the name of the variant with this number, for C.
            #[doc(hidden)]
            #[inline(always)]
            pub const fn c_name(number: u32) -> Option<&'static core::ffi::CStr> {
                match number {
                    $($number => Some(const { $crate::words::c_str(concat!(stringify!($variant), "\0")) }),)+
                    _ => None,
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}
pub(crate) use words;

/// Returns `text` as a C string. Its only NUL must be its last byte; any other text becomes `?`.
pub(crate) const fn c_str(text: &str) -> &core::ffi::CStr {
    match core::ffi::CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"?",
    }
}
