//! What the code that `#[kernel]`, `#[device]` and `#[warpwright::module]` generate names. Nobody else should: it changes with them.

pub use crate::arguments::Arguments;
pub use crate::definition::{
    DeviceItem, ExternItem, ExternTarget, GenericArgument, KernelDefinition, MATRIX, MATRIX_BATCH, MATRIX_BATCH_MUT, MATRIX_MUT, Parameter,
    ParameterKind, ScalarKind, SourceText,
};
pub use crate::element::{Element, ElementType, EnumType, Field, Fields, StructType, TypeName};
pub use crate::outside::{DeviceMethods, DeviceType, IntoConstValue};
pub use crate::passing::ParameterGroup;
pub use crate::prelude::cast::{CastSource, CastTarget, Universal, cast};
pub use crate::prelude::numeric::{shl, shr};
pub use crate::twin::{Turns, TwinArguments, shared, shared_dynamic};
