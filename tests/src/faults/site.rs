//! Where edits are made: the kernel's own text, and those of the functions that it calls.

use warpwright_runtime::definition::{DeviceItem, ExternItem, ExternTarget, KernelDefinition, SourceText};

/// A text that a kernel is made of.
#[derive(Clone, Copy)]
pub struct Site {
    kernel: &'static KernelDefinition,
    /// The text, and where it stands.
    pub source: SourceText,
}

fn is_same(a: &SourceText, b: &SourceText) -> bool {
    (a.file, a.line, a.column, a.text) == (b.file, b.line, b.column, b.text)
}

/// The sites of a kernel: its own text first.
pub fn sites(kernel: &'static KernelDefinition) -> Vec<Site> {
    let mut found = vec![Site { kernel, source: kernel.item.source }];
    let mut open = vec![&kernel.item];
    while let Some(item) = open.pop() {
        for target in item.externs.iter().filter_map(|name| name.target.item().ok()) {
            if found.iter().all(|site| !is_same(&site.source, &target.source)) {
                found.push(Site { kernel, source: target.source });
                open.push(target);
            }
        }
    }
    found
}

impl Site {
    /// Whether it is the kernel's own text.
    pub fn is_kernel(&self) -> bool {
        is_same(&self.source, &self.kernel.item.source)
    }

    /// The kernel with another text here. It lives as long as the program, as definitions do.
    pub fn with_text(&self, text: String) -> &'static KernelDefinition {
        let text: &'static str = Box::leak(text.into_boxed_str());
        let item = self.replaced(&self.kernel.item, text, &mut Vec::new()).unwrap_or(self.kernel.item);
        Box::leak(Box::new(KernelDefinition { item, ..*self.kernel }))
    }

    /// An item that has this site, itself or by what it names; none if it has not. `above`: what names it.
    fn replaced(&self, item: &'static DeviceItem, text: &'static str, above: &mut Vec<SourceText>) -> Option<DeviceItem> {
        if is_same(&item.source, &self.source) {
            return Some(DeviceItem { source: SourceText { text, ..item.source }, ..*item });
        }
        if above.iter().any(|source| is_same(source, &item.source)) {
            return None;
        }
        above.push(item.source);
        let mut has_site = false;
        let mut rename = |name: &ExternItem| {
            let other = name.target.item().ok().and_then(|target| self.replaced(target, text, above))?;
            has_site = true;
            Some(ExternItem { target: ExternTarget::Other(Box::leak(Box::new(other))), ..*name })
        };
        let externs: Vec<ExternItem> = item.externs.iter().map(|name| rename(name).unwrap_or(*name)).collect();
        above.pop();
        has_site.then(|| DeviceItem { externs: Box::leak(externs.into_boxed_slice()), ..*item })
    }
}
