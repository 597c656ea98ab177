//! Memory objects and the layout of what they hold: `repr(C)`, the same on host and device.

use super::{EntityMap, Loc, Object, Scalar, Space, StructId, Type};

/// The type of what an object holds.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryType {
    /// A scalar.
    Scalar(Type),
    /// `[T; N]`.
    Array(Box<MemoryType>, u64),
    /// `[T; N]` with room for some more behind it: a row of a `#[shared(pad = P)]` array. Elements, then the room.
    Padded(Box<MemoryType>, u64, u64),
    /// `[T]` of a length known at the launch: the element type of a buffer or of dynamic shared memory.
    Slice(Box<MemoryType>),
    /// A struct (or tuple) of the kernel.
    Struct(StructId),
}

/// A struct as laid out in memory, `repr(C)`, possibly with `align`.
#[derive(Clone, Debug, PartialEq)]
pub struct StructType {
    /// Its name in the source; tuples get a made-up one.
    pub name: String,
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Size in bytes, padding included.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; `f0`, `f1` … for tuples.
    pub name: String,
    /// Its type.
    pub ty: MemoryType,
    /// Bytes from the start of the struct.
    pub offset: u64,
}

/// Most bytes of a type: far beyond any device, and far from overflow.
pub const MOST_BYTES: u64 = 1 << 40;

impl StructType {
    /// Lays out fields by the rules of `repr(C, align(least_align))`; without `align`, that is 1. A size of more than [`MOST_BYTES`] is for the caller to refuse.
    pub fn new(name: String, fields: Vec<(String, MemoryType)>, least_align: u64, structs: &EntityMap<StructId, StructType>) -> StructType {
        let (mut size, mut align) = (0u64, least_align);
        let fields = fields
            .into_iter()
            .map(|(name, ty)| {
                let own = ty.align(structs);
                align = align.max(own);
                let offset = size.checked_next_multiple_of(own).unwrap_or(u64::MAX);
                size = offset.saturating_add(ty.size(structs));
                Field { name, ty, offset }
            })
            .collect();
        StructType { name, fields, size: size.checked_next_multiple_of(align).unwrap_or(u64::MAX), align }
    }

    /// Its alignment in bytes, where that is more than its fields need.
    pub fn asked_align(&self, structs: &EntityMap<StructId, StructType>) -> Option<u64> {
        let own = self.fields.iter().map(|field| field.ty.align(structs)).max().unwrap_or(1);
        Some(self.align).filter(|align| *align > own)
    }
}

impl MemoryType {
    /// What an array or a slice is made of.
    pub fn element(&self) -> Option<&MemoryType> {
        match self {
            MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => Some(element),
            MemoryType::Scalar(_) | MemoryType::Struct(_) => None,
        }
    }

    /// Size in bytes; a slice counts as zero.
    pub fn size(&self, structs: &EntityMap<StructId, StructType>) -> u64 {
        match self {
            MemoryType::Scalar(ty) => u64::from(ty.bytes()),
            MemoryType::Array(element, n) => element.size(structs).saturating_mul(*n),
            MemoryType::Padded(element, n, pad) => element.size(structs).saturating_mul(n.saturating_add(*pad)),
            MemoryType::Slice(_) => 0,
            MemoryType::Struct(id) => structs[*id].size,
        }
    }

    /// Elements of a row: of the innermost of nested arrays, which holds scalars. `None` if the type is no such array or slice of rows.
    pub fn columns(&self) -> Option<u64> {
        // Slots of a ring may have room behind their rows.
        let (MemoryType::Array(row, _) | MemoryType::Padded(row, ..) | MemoryType::Slice(row)) = self else { return None };
        match &**row {
            MemoryType::Array(element, columns) if matches!(**element, MemoryType::Scalar(_)) => Some(*columns),
            other => other.columns(),
        }
    }

    /// Rows, columns and elements of the innermost array of rows of scalars, without room behind them.
    pub fn tile(&self) -> Option<(u64, u64, Type)> {
        let MemoryType::Array(row, rows) = self else { return None };
        if let MemoryType::Array(element, columns) = &**row
            && let MemoryType::Scalar(ty) = **element
        {
            return Some((*rows, *columns, ty));
        }
        row.tile()
    }

    /// The same with room for `pad` more elements behind each row.
    pub fn padded(self, pad: u64) -> MemoryType {
        match self {
            MemoryType::Array(element, n) if matches!(*element, MemoryType::Array(..)) => {
                MemoryType::Array(Box::new(element.padded(pad)), n)
            }
            MemoryType::Array(element, n) => MemoryType::Padded(element, n, pad),
            MemoryType::Slice(element) => MemoryType::Slice(Box::new(element.padded(pad))),
            other => other,
        }
    }

    /// Elements of room behind each row.
    pub fn padding(&self) -> u64 {
        match self {
            MemoryType::Padded(_, _, pad) => *pad,
            MemoryType::Array(row, _) | MemoryType::Slice(row) => row.padding(),
            MemoryType::Scalar(_) | MemoryType::Struct(_) => 0,
        }
    }

    /// The same without room behind its rows.
    pub fn unpadded(self) -> MemoryType {
        match self {
            MemoryType::Padded(element, n, _) => MemoryType::Array(element, n),
            MemoryType::Array(row, n) => MemoryType::Array(Box::new(row.unpadded()), n),
            MemoryType::Slice(row) => MemoryType::Slice(Box::new(row.unpadded())),
            MemoryType::Scalar(_) | MemoryType::Struct(_) => self,
        }
    }

    /// The scalar that begins so many bytes from the start; `None` within one, in padding and beyond the end. A slice has no end.
    pub fn scalar_at(&self, offset: u64, structs: &EntityMap<StructId, StructType>) -> Option<Type> {
        match self {
            MemoryType::Scalar(ty) => (offset == 0).then_some(*ty),
            MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) => {
                let size = element.size(structs).max(1);
                (offset / size < *n).then(|| element.scalar_at(offset % size, structs))?
            }
            MemoryType::Slice(element) => element.scalar_at(offset % element.size(structs).max(1), structs),
            MemoryType::Struct(id) => {
                let field = structs[*id].fields.iter().rev().find(|field| field.offset <= offset && field.ty.size(structs) > 0)?;
                field.ty.scalar_at(offset - field.offset, structs)
            }
        }
    }

    /// Alignment in bytes.
    pub fn align(&self, structs: &EntityMap<StructId, StructType>) -> u64 {
        match self {
            MemoryType::Scalar(ty) => u64::from(ty.bytes()),
            MemoryType::Array(element, _) | MemoryType::Padded(element, ..) | MemoryType::Slice(element) => element.align(structs),
            MemoryType::Struct(id) => structs[*id].align,
        }
    }
}

/// What an object is, and where it lives.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectKind {
    /// A by-value kernel parameter: scalar, struct or array.
    Value,
    /// A buffer, `&Global<T>` (not writable: no other parameter aliases it, nobody writes it) or `&mut Global<T>`. Type: slice.
    Global {
        /// Whether it was taken as `&mut`.
        writable: bool,
    },
    /// `&Constant<…>`: a parameter in constant memory.
    Constant,
    /// `&Texture2d<T>`: an image that is read through the texture units. Type: a slice of texels, each a scalar or an array of 2 or 4.
    Texture,
    /// A constant table of the kernel itself: bytes known at compile time, as little-endian scalars of its one scalar type.
    Table(Vec<Scalar>),
    /// A `#[shared]` array. Type: slice if dynamic.
    Shared,
    /// This `#[shared]` array in every block of the cluster: the first index is the block's rank. It is no memory of its own: the element of the block's own rank
    /// is the array, and who writes one writes the other, so accesses of it keep their place among all others ([`super::Effects::orders`]).
    Peers(Object),
    /// An array of one thread, uninitialised at first.
    Local,
}

/// A memory object. Two different objects never alias, but for those of [`ObjectKind::Peers`].
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectData {
    /// Its name in the source.
    pub name: String,
    /// What it is.
    pub kind: ObjectKind,
    /// What it holds.
    pub ty: MemoryType,
    /// Where it is declared.
    pub loc: Loc,
}

impl ObjectData {
    /// The space it lives in.
    pub fn space(&self) -> Space {
        match self.kind {
            ObjectKind::Value => Space::Param,
            ObjectKind::Global { .. } | ObjectKind::Texture => Space::Global,
            ObjectKind::Constant | ObjectKind::Table(_) => Space::Constant,
            ObjectKind::Shared => Space::Shared,
            ObjectKind::Peers(_) => Space::Cluster,
            ObjectKind::Local => Space::Local,
        }
    }

    /// Whether nobody writes it while the kernel runs.
    pub fn is_read_only(&self) -> bool {
        match self.kind {
            ObjectKind::Value | ObjectKind::Constant | ObjectKind::Texture | ObjectKind::Table(_) => true,
            ObjectKind::Global { writable } => !writable,
            ObjectKind::Shared | ObjectKind::Peers(_) | ObjectKind::Local => false,
        }
    }

    /// The scalar type of a texture's components, and how many a texel has; `None` if this is no texture of such texels.
    pub fn texel(&self) -> Option<(Type, usize)> {
        let (ObjectKind::Texture, MemoryType::Slice(texel)) = (&self.kind, &self.ty) else { return None };
        match &**texel {
            MemoryType::Scalar(ty) => Some((*ty, 1)),
            MemoryType::Array(component, n @ (2 | 4)) => match **component {
                MemoryType::Scalar(ty) => Some((ty, *n as usize)),
                _ => None,
            },
            _ => None,
        }
    }
}
