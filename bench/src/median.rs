//! The middle of some figures.

/// Of an even number, the lower of the two in the middle.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_of_two() {
        let cases = [
            (vec![], None),
            (vec![4.0], Some(4)),
            (vec![9.0, 1.0], Some(1)),
            (vec![9.0, 1.0, 5.0], Some(5)),
        ];
        for (values, expected) in cases {
            let found = median(values.clone()).map(|value| value as u64);
            assert_eq!(found, expected, "{values:?}");
        }
    }
}
