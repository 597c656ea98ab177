//! A list that needs no heap while it is short: what a launch is made of.

/// Up to `N` items in place, the rest on the heap.
#[derive(Clone)]
pub(crate) struct Inline<T: Copy, const N: usize> {
    first: [Option<T>; N],
    len: usize,
    rest: Vec<T>,
}

impl<T: Copy, const N: usize> Inline<T, N> {
    pub(crate) fn new() -> Inline<T, N> {
        Inline { first: [None; N], len: 0, rest: Vec::new() }
    }

    pub(crate) fn push(&mut self, item: T) {
        match self.first.get_mut(self.len) {
            Some(place) => *place = Some(item),
            None => self.rest.push(item),
        }
        self.len += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.first[..self.len.min(N)].fill(None);
        self.rest.clear();
        self.len = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        match self.first.get(index) {
            Some(place) => place.as_ref(),
            None => self.rest.get(index - N),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first[..self.len.min(N)].iter().flatten().chain(&self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::Inline;

    #[test]
    fn spills_and_keeps_order() {
        let mut list = Inline::<u8, 2>::new();
        (0..5).for_each(|i| list.push(i));
        assert_eq!(list.len(), 5);
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!((list.get(1), list.get(2), list.get(5)), (Some(&1), Some(&2), None));
    }
}
