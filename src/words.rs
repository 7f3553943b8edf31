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

            /// Returns the description in words.
            pub const fn text(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
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
