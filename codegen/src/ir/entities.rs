//! The newtyped indices that name things in a kernel, and vectors addressed by them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> $name {
                $name(u32::try_from(index).expect("a kernel holds fewer than 2^32 entities of a kind"))
            }
        }

        impl From<$name> for usize {
            fn from(entity: $name) -> usize {
                entity.0 as usize
            }
        }
    };
}

entity!(
    /// An SSA value: defined once, by an instruction's result or a block's parameter.
    Value, "v");
entity!(
    /// An instruction.
    Inst, "i");
entity!(
    /// A block: a list of instructions with parameters, owned by a region instruction or the kernel's body.
    Block, "b");
entity!(
    /// A memory object: a parameter, a shared or local array, a constant table.
    Object, "m");
entity!(
    /// A struct type of the kernel.
    StructId, "s");
entity!(
    /// A place in the user's source: an index into [`super::Kernel::locations`]. `l0` is "nowhere".
    Loc, "l");

/// A vector addressed by an entity.
#[derive(Clone, PartialEq)]
pub struct EntityMap<K, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K, V> Default for EntityMap<K, V> {
    fn default() -> Self {
        EntityMap { items: Vec::new(), key: PhantomData }
    }
}

impl<K: From<usize> + Copy, V> EntityMap<K, V> {
    /// Appends `item` and names it.
    pub fn push(&mut self, item: V) -> K {
        let key = K::from(self.items.len());
        self.items.push(item);
        key
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All names, in order.
    pub fn keys(&self) -> impl Iterator<Item = K> + use<K, V> {
        (0..self.items.len()).map(K::from)
    }

    /// All items with their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.items.iter().enumerate().map(|(i, v)| (K::from(i), v))
    }

    /// All items, in order.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.items.iter()
    }
}

impl<K: Into<usize>, V> EntityMap<K, V> {
    /// The item, if the name is in range.
    pub fn get(&self, key: K) -> Option<&V> {
        self.items.get(key.into())
    }
}

impl<K: Into<usize>, V> Index<K> for EntityMap<K, V> {
    type Output = V;
    fn index(&self, key: K) -> &V {
        &self.items[key.into()]
    }
}

impl<K: Into<usize>, V> IndexMut<K> for EntityMap<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.into()]
    }
}

impl<K: From<usize> + Copy + fmt::Debug, V: fmt::Debug> fmt::Debug for EntityMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
