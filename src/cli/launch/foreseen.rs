//! What a launch says before it runs: how many blocks, and what decides how often loops run. No buffer is made for it.

use super::runner::refused;
use super::values::{Written, leaves, scalar};
use super::{LaunchArguments, Launchable};
use crate::cli::Stop;
use crate::cli::source::Source;
use warpwright::Device;
use warpwright_codegen::ir::{Kernel, ObjectKind};
use warpwright_codegen::syntax::Instance;
use warpwright_review::estimate::Launched;
use warpwright_runtime::definition::ParameterKind;

/// A launch of a variant.
pub(in crate::cli) struct Foreseen {
    /// Its blocks.
    pub(in crate::cli) blocks: u64,
    /// What the variant's estimates may take from it.
    pub(in crate::cli) launched: Launched,
}

impl LaunchArguments {
    /// Foresees the launch of an instance, whose `Legal` kernel is `legal`; `None` if none is given. Arguments that are not
    /// given are not known.
    ///
    /// # Errors
    /// All that is wrong with what was written.
    pub(in crate::cli) fn foresee(
        &self,
        source: &Source,
        kernel: &str,
        instance: &Instance,
        legal: &Kernel,
    ) -> Result<Option<Foreseen>, Stop> {
        if self.cover.is_none() && self.grid.is_none() && self.args.is_empty() {
            return Ok(None);
        }
        // What cannot be launched says so where it is.
        let Ok(variant) = Launchable::compile(source, kernel, instance, &Device::simulator()) else { return Ok(None) };
        let dynamic = &variant.kernel;
        let (written, mut wrong) = self.written(dynamic.parameters());
        let geometry = self.geometry(&variant).map_err(|reasons| wrong.extend(reasons)).ok();
        let mut launched = Launched { dynamic_shared: self.dynamic_shared(), ..Launched::default() };
        for (parameter, text) in dynamic.parameters().iter().zip(written) {
            let is_parameter = |kind: &ObjectKind| matches!(kind, ObjectKind::Value | ObjectKind::Constant | ObjectKind::Global { .. });
            let object = legal.objects.iter().find(|(_, object)| is_parameter(&object.kind) && object.name == parameter.name);
            let written = text.map(|text| Written::parse(&text)).transpose();
            match (written, object) {
                (Err(reason), _) => wrong.push(format!("`{}` {reason}", parameter.name)),
                (Ok(Some(written)), Some((object, _))) if parameter.kind == ParameterKind::Value => {
                    match written.value(parameter, dynamic.structs()) {
                        Ok(bytes) => launched.numbers.extend(
                            leaves(&parameter.ty, dynamic.structs())
                                .into_iter()
                                .map(|(offset, ty)| ((object, offset as u64), scalar(&bytes, offset, ty))),
                        ),
                        Err(reason) => wrong.push(format!("`{}` {reason}", parameter.name)),
                    }
                }
                (Ok(written), Some((object, _))) if matches!(parameter.kind, ParameterKind::Global | ParameterKind::GlobalMut) => {
                    let covered = self.length().ok().and_then(Result::ok);
                    let own = written.map(|written| written.len(parameter, dynamic.structs()));
                    match own.transpose() {
                        Ok(own) => launched.lengths.extend(own.flatten().or(covered).map(|len| (object, len as u64))),
                        Err(reason) => wrong.push(format!("`{}` {reason}", parameter.name)),
                    }
                }
                _ => {}
            }
        }
        let (Some(geometry), true) = (geometry, wrong.is_empty()) else { return Err(refused(wrong)) };
        let Ok((grid, block)) = dynamic.extents(geometry) else { return Ok(None) };
        (launched.grid, launched.block) = (Some(grid), Some(block));
        Ok(Some(Foreseen { blocks: grid.iter().map(|extent| u64::from(*extent)).product(), launched }))
    }
}
