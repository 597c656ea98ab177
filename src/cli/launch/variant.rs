//! A variant that can be launched, and what `--cover` and `--grid` may name of it: its const generics and its block.

use super::stop;
use crate::cli::Stop;
use crate::cli::source::{Source, meant};
use warpwright::{Device, DeviceKind, Dim3};
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::nearest::nearest;
use warpwright_codegen::pipeline::Scheduled;
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance};
use warpwright_runtime::dynamic::DynamicKernel;

/// The names of a block's size.
const BLOCK: [&str; 4] = ["block", "block.x", "block.y", "block.z"];

/// A variant, compiled for a device.
pub(in crate::cli) struct Launchable {
    pub(super) kernel: DynamicKernel,
    /// The kernel's name in its source.
    name: String,
    /// The generics, and the numbers that those are which are no types.
    generics: Vec<(String, Option<i128>)>,
}

impl Launchable {
    /// Compiles an instance of a kernel for a device.
    pub(in crate::cli) fn compile(source: &Source, kernel: &str, instance: &Instance, device: &Device) -> Result<Launchable, Stop> {
        let compiled = match device.kind() {
            DeviceKind::Simulator => source.compile_with_calls(kernel, instance),
            _ => source.compile(kernel, instance),
        };
        let lowered = compiled.map_err(|found| source.findings(&found))?;
        Launchable::of(source, kernel, instance, lowered, device)
    }

    /// The same with every index checked; none where its promises cannot be kept then.
    pub(in crate::cli) fn compile_checked(source: &Source, kernel: &str, instance: &Instance, device: &Device) -> Option<Launchable> {
        let lowered = source.compile_checked(kernel, instance).ok()?;
        Launchable::of(source, kernel, instance, lowered, device).ok()
    }

    fn of(source: &Source, kernel: &str, instance: &Instance, lowered: Lowered<Scheduled>, device: &Device) -> Result<Launchable, Stop> {
        let names = source.generics(kernel).unwrap_or_default();
        let number = |value: &GenericValue| match value {
            GenericValue::Const(ConstValue::Scalar(scalar)) if !scalar.ty.is_float() => Some(scalar.as_int()),
            GenericValue::Const(ConstValue::Index(value, _)) => Some(*value),
            _ => None,
        };
        let generics = names.into_iter().zip(&instance.generics).map(|((name, _), value)| (name, number(value))).collect();
        let name = kernel.to_owned();
        Ok(Launchable { kernel: DynamicKernel::compile(device, source.program(kernel), lowered).map_err(stop)?, name, generics })
    }

    /// The block that its attribute fixes.
    pub(super) fn block(&self) -> Option<Dim3> {
        self.kernel.block()
    }

    /// What a name stands for, in launches with this block.
    ///
    /// # Errors
    /// That it stands for no number.
    pub(super) fn value_of(&self, name: &str, block: Dim3) -> Result<i128, String> {
        let extents = block.to_array().map(|extent| extent as i128);
        Ok(match meaning(name, &self.name, &self.generics)? {
            Meaning::Generic(value) => value,
            // More threads than can be counted are refused as a block.
            Meaning::Block(0) => extents.into_iter().fold(1, i128::saturating_mul),
            Meaning::Block(n) => extents[n - 1],
        })
    }
}

/// Why a name stands for no number in any variant of a kernel with these generics, each with whether it stands for a type.
pub(super) fn wrong_name(name: &str, kernel: &str, generics: &[(String, bool)]) -> Option<String> {
    let generics: Vec<(String, Option<()>)> = generics.iter().map(|(name, is_type)| (name.clone(), (!is_type).then_some(()))).collect();
    meaning(name, kernel, &generics).err()
}

/// What a name in `--cover` or `--grid` stands for.
enum Meaning<N> {
    /// A const generic: what is known of its number.
    Generic(N),
    /// The place in `BLOCK` of a block's size.
    Block(usize),
}

/// What a name stands for in launches of a kernel with these generics, each with what is known of its number; `None` is a type.
///
/// # Errors
/// That it stands for no number.
fn meaning<N: Copy>(name: &str, kernel: &str, generics: &[(String, Option<N>)]) -> Result<Meaning<N>, String> {
    let numbers = generics.iter().filter(|(_, number)| number.is_some()).map(|(name, _)| name.as_str());
    if let Some((_, number)) = generics.iter().find(|(known, _)| known == name) {
        let all = || numbers.clone().chain(["block"]).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        return number
            .map(Meaning::Generic)
            .ok_or_else(|| format!("`{name}` is a type, not a number; write a number, or one of {}", all()));
    }
    if let Some(at) = BLOCK.iter().position(|known| *known == name) {
        return Ok(Meaning::Block(at));
    }
    let hint = match nearest(name, BLOCK) {
        Some(near) => format!("did you mean `{near}`?"),
        None => meant(name, numbers.chain(["block"])),
    };
    Err(format!("`{kernel}` has no const generic `{name}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_stand_for_no_number() {
        let generics = [("ILP".to_owned(), false), ("E".to_owned(), true)];
        let said = |name: &str| wrong_name(name, "sum", &generics);
        assert_eq!((said("ILP"), said("block"), said("block.z")), (None, None, None));
        assert_eq!(said("E").as_deref(), Some("`E` is a type, not a number; write a number, or one of `ILP`, `block`"));
        assert_eq!(said("IPL").as_deref(), Some("`sum` has no const generic `IPL`; did you mean `ILP`?"));
        assert_eq!(said("blok").as_deref(), Some("`sum` has no const generic `blok`; did you mean `block`?"));
        assert_eq!(said("WIDTH").as_deref(), Some("`sum` has no const generic `WIDTH`; write one of `ILP`, `block`"));
        assert_eq!(wrong_name("T", "sum", &[]).as_deref(), Some("`sum` has no const generic `T`; write `block`"));
    }
}
