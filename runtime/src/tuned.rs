//! What `warpwright tune` found: the best variant of a kernel for one device, and whether that still holds.

use crate::device::Device;
use crate::error::debug_of_variants;
use crate::launch::Launch;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The compiler that a result is of.
pub const COMPILER: &str = env!("CARGO_PKG_VERSION");

/// The schema of result files that is read here.
const SCHEMA: &str = "1";

/// The result of a tuning run.
///
/// ```no_run
/// # use warpwright_runtime::{Device, Tuned};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::best();
/// let tuned = Tuned::load("matmul_tiled.tuned.toml", &device)?;
/// // `matmul_tiled_variants().tuned(&tuned)?` is that variant, to be launched.
/// assert!(tuned.int("T")? >= 8 || tuned.bool("PREFETCH")?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    kernel: String,
    target: String,
    fingerprint: String,
    best: Vec<(String, String)>,
}

/// Why a result is of no use. `Debug` is the variant and the message, as of [`Error`](crate::Error).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TunedError {
    /// The file cannot be read.
    #[error("`{path}` cannot be read: {reason}; run `warpwright tune` to write it")]
    Unreadable {
        /// Its path.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// It is no result of a finished run.
    #[error("`{path}` is not the result of a finished tuning run: {reason}; run `warpwright tune` again")]
    Malformed {
        /// Its path.
        path: String,
        /// What is missing or wrong.
        reason: String,
    },
    /// It is of another device.
    #[error("`{kernel}` was tuned on {tuned}, and this is {device}: run `warpwright tune` here")]
    OtherDevice {
        /// The kernel.
        kernel: String,
        /// The device it was tuned on.
        tuned: String,
        /// The device at hand.
        device: String,
    },
    /// It is of another version of the compiler.
    #[error("`{kernel}` was tuned with warpwright {tuned}, and this is {compiler}: run `warpwright tune` again")]
    OtherCompiler {
        /// The kernel.
        kernel: String,
        /// The version it was tuned with.
        tuned: String,
        /// This version.
        compiler: &'static str,
    },
    /// The kernel has changed since, or is another.
    #[error("`{kernel}` has changed since it was tuned; run `warpwright tune` again")]
    OtherKernel {
        /// The kernel.
        kernel: String,
    },
    /// The kernel does not compile, or not for the device's target.
    #[error("`{kernel}` cannot be compared with what was tuned: {reason}")]
    Uncompiled {
        /// The kernel.
        kernel: String,
        /// What the compiler says.
        reason: String,
    },
    /// The best variant is none that the program has.
    #[error(
        "the best variant of `{kernel}` is {best}, which is not among those of `{kernels}`, which declares {declares}; declare it, or run `warpwright tune` again"
    )]
    NoVariant {
        /// The kernel that was tuned.
        kernel: String,
        /// Its best variant.
        best: String,
        /// The kernel whose variants were asked.
        kernels: &'static str,
        /// How many these are.
        declares: usize,
    },
    /// The result has no such generic, or it is of another type.
    #[error("`{kernel}` was tuned over {known}: there is no `{generic}` that is {wanted}; ask for one of these")]
    NoGeneric {
        /// The kernel.
        kernel: String,
        /// What was asked for.
        generic: String,
        /// As what.
        wanted: &'static str,
        /// What there is.
        known: String,
    },
}

debug_of_variants!(TunedError: Unreadable Malformed OtherDevice OtherCompiler OtherKernel Uncompiled NoVariant NoGeneric);

impl Tuned {
    /// Reads the result of a tuning run.
    ///
    /// # Errors
    /// If it cannot be read, is of an unfinished run, of another device or of another version of the compiler.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Tuned, TunedError> {
        let shown = path.as_ref().display().to_string();
        let text = std::fs::read_to_string(path.as_ref())
            .map_err(|error| TunedError::Unreadable { path: shown.clone(), reason: error.to_string() })?;
        let malformed = |reason: &str| TunedError::Malformed { path: shown.clone(), reason: reason.to_owned() };
        let table = DeTable::parse(&text).map_err(|error| malformed(error.message()))?;
        let table = table.get_ref();
        let field =
            |name: &str| table.get(name).map(|value| plain(value.get_ref())).ok_or_else(|| malformed(&format!("it has no `{name}`")));
        if field("schema")? != SCHEMA {
            return Err(malformed(&format!("its schema is {}, and {SCHEMA} is read here", field("schema")?)));
        }
        let kernel = field("kernel")?;
        let (tuned, compiler) = (field("device")?, field("compiler")?);
        if tuned != device.model() {
            return Err(TunedError::OtherDevice { kernel, tuned, device: device.to_string() });
        }
        if compiler != COMPILER {
            return Err(TunedError::OtherCompiler { kernel, tuned: compiler, compiler: COMPILER });
        }
        let Some(DeValue::Table(best)) = table.get("best").map(|value| value.get_ref()) else {
            return Err(malformed("it does not say which variant is best"));
        };
        let best = best.iter().map(|(name, value)| (name.get_ref().to_string(), plain(value.get_ref()))).collect();
        Ok(Tuned { kernel, target: field("target")?, fingerprint: field("fingerprint")?, best })
    }

    /// The kernel that was tuned.
    pub(crate) fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The values of the best variant.
    pub(crate) fn best(&self) -> impl Iterator<Item = (&str, &str)> {
        self.best.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The best value of a generic that is an integer.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn int(&self, generic: &str) -> Result<i128, TunedError> {
        self.value(generic, "an integer", |text| text.parse().ok())
    }

    /// The best value of a generic that is a `bool`.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn bool(&self, generic: &str) -> Result<bool, TunedError> {
        self.value(generic, "a `bool`", |text| text.parse().ok())
    }

    /// The name of the best type for a generic that stands for one.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn ty(&self, generic: &str) -> Result<String, TunedError> {
        self.value(generic, "a type", |text| Some(text.to_owned()))
    }

    fn value<T>(&self, generic: &str, wanted: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<T, TunedError> {
        let found = self.best.iter().find(|(name, _)| name == generic).and_then(|(_, text)| read(text));
        found.ok_or_else(|| TunedError::NoGeneric {
            kernel: self.kernel.clone(),
            generic: generic.to_owned(),
            wanted,
            known: self.best.iter().map(|(name, value)| format!("`{name} = {value}`")).collect::<Vec<_>>().join(", "),
        })
    }

    /// Whether a launch is of the very variant that was found best, its code unchanged since.
    ///
    /// # Errors
    /// [`TunedError::OtherKernel`] if it is not.
    pub fn check(&self, launch: &Launch<'_>) -> Result<(), TunedError> {
        let kernel = || self.kernel.clone();
        let ptx =
            launch.ptx_module(&self.target).map_err(|error| TunedError::Uncompiled { kernel: kernel(), reason: error.to_string() })?;
        let same = format!("{:016x}", fingerprint(&ptx.without_places().to_string())) == self.fingerprint;
        if same { Ok(()) } else { Err(TunedError::OtherKernel { kernel: kernel() }) }
    }
}

/// What stands for a kernel's code: its PTX, which has no places in files, hashed (FNV-1a, 64 bits, which any program computes alike).
pub fn fingerprint(code: &str) -> u64 {
    code.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A variant that a run has measured, seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredVariant {
    /// Its generics in words.
    pub variant: String,
    /// The middle run.
    pub median: f64,
    /// The fastest.
    pub least: f64,
    /// The slowest.
    pub most: f64,
    /// How many.
    pub runs: usize,
    /// Whether its results are not those of the first variant.
    pub differs: bool,
    /// Of its PTX.
    pub fingerprint: u64,
}

/// What a result file says was measured; nothing if it is none.
pub fn measured(file: &str) -> Vec<MeasuredVariant> {
    let Ok(table) = DeTable::parse(file) else { return Vec::new() };
    let Some(DeValue::Array(rows)) = table.get_ref().get("measured").map(|value| value.get_ref()) else { return Vec::new() };
    let row = |value: &DeValue<'_>| {
        let DeValue::Table(row) = value else { return None };
        let field = |name: &str| row.get(name).map(|value| plain(value.get_ref()));
        Some(MeasuredVariant {
            variant: field("variant")?,
            median: field("median")?.parse().ok()?,
            least: field("least")?.parse().ok()?,
            most: field("most")?.parse().ok()?,
            runs: field("runs")?.parse().ok()?,
            differs: field("differs")?.parse().ok()?,
            fingerprint: u64::from_str_radix(&field("fingerprint")?, 16).ok()?,
        })
    };
    rows.iter().filter_map(|value| row(value.get_ref())).collect()
}

/// A scalar's text.
fn plain(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        _ => String::new(),
    }
}
