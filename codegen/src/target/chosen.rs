//! Which targets a kernel is checked for: those of its attribute, else those of its crate's manifest, else three that stand for what is in use.

use super::Target;
use crate::syntax::KernelAttributes;

/// What kernels are checked for where nothing is said: data centre cards of two generations, and what desktops have.
pub const DEFAULT_TARGETS: [&str; 3] = ["sm_80", "sm_89", "sm_90"];

/// The targets of a kernel, whose crate asks for `of_crate`. Unknown names are left out: they are errors already.
pub fn chosen(attributes: &KernelAttributes, of_crate: Option<&[&'static Target]>) -> Vec<&'static Target> {
    let own: Vec<_> = attributes.targets.iter().filter_map(|name| Target::find(&name.to_string()).ok()).collect();
    match of_crate {
        _ if !own.is_empty() => own,
        Some(targets) => targets.to_vec(),
        None => DEFAULT_TARGETS.iter().filter_map(|name| Target::find(name).ok()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;

    fn names(targets: &[&'static Target]) -> Vec<&'static str> {
        targets.iter().map(|target| target.name).collect()
    }

    #[test]
    fn the_nearest_list_counts() {
        let attributes = |text: &str| KernelAttributes::parse(text.parse().unwrap(), &mut Diagnostics::new());
        let of_crate = [Target::find("sm_75").unwrap()];
        assert_eq!(names(&chosen(&attributes("targets = [sm_90]"), Some(&of_crate))), ["sm_90"]);
        assert_eq!(names(&chosen(&attributes(""), Some(&of_crate))), ["sm_75"]);
        assert_eq!(names(&chosen(&attributes(""), None)), DEFAULT_TARGETS);
    }
}
