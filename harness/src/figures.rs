//! Numbers for people.

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub fn signed(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

/// A rate, without decimals that mean nothing.
pub fn rate(per_s: f64) -> String {
    if per_s >= 100.0 {
        count(per_s.round() as u64)
    } else {
        format!("{per_s:.1}")
    }
}

/// `340 ms`, `2.4 s`.
pub fn ms(ms: u64) -> String {
    if ms < 1_000 {
        format!("{ms} ms")
    } else {
        format!("{:.1} s", ms as f64 / 1e3)
    }
}

/// A moment of the run, from the first arrival on: `+2.5 s`, before it `-0.5 s`.
pub fn moment(at_ms: i64) -> String {
    format!("{:+.1} s", at_ms as f64 / 1e3)
}

/// `350 µs`, `2.4 ms`, `1.2 s`.
pub fn us(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

/// A share of one, as per cent; never rounded up to 100.
pub fn percent(share: f64) -> String {
    let floor = (share * 100_000.0).floor() / 1_000.0;
    if floor == floor.trunc() {
        format!("{floor:.0} %")
    } else {
        format!("{floor:.3} %")
    }
}

/// Short numbers for axes: `2.5k`, `100k`, `1M`.
pub fn short(number: f64) -> String {
    let (scaled, unit) = match number.abs() {
        size if size >= 1e6 => (number / 1e6, "M"),
        size if size >= 1e3 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    let text = format!("{scaled:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// `redis_primary_kill` as `redis primary kill`.
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(signed(-1_200), "−1,200");
        assert_eq!([12.34, 99_999.7].map(rate), ["12.3", "100,000"]);
        assert_eq!([999, 2_449].map(ms), ["999 ms", "2.4 s"]);
        assert_eq!(
            [350, 2_400, 1_200_000].map(us),
            ["350 µs", "2.4 ms", "1.2 s"]
        );
        assert_eq!(
            [1.0, 0.999_999_9, 0.5].map(percent),
            ["100 %", "99.999 %", "50 %"]
        );
        assert_eq!(
            [0.0, 950.0, 2_500.0, 100_000.0, 1e6].map(short),
            ["0", "950", "2.5k", "100k", "1M"]
        );
    }
}
