//! Counters from a Prometheus text page (exposition format 0.0.4).

use std::collections::BTreeMap;

/// The counters that the target names, as name in the report -> value. A metric is given as `name`, which
/// adds up all its series, or as `name{label="value"}`, which adds up those with these labels. One that
/// the page does not have is left out.
pub fn counters(page: &str, wanted: &BTreeMap<String, String>) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for (name, metric) in wanted {
        let (metric, labels) = split(metric);
        let series = page.lines().filter_map(series);
        let of_metric = series.filter(|(found, has, _)| {
            *found == metric && labels.iter().all(|label| has.contains(label))
        });
        if let Some(total) = of_metric
            .map(|(_, _, value)| value)
            .reduce(|sum, value| sum + value)
        {
            out.insert(name.clone(), total);
        }
    }
    out
}

/// Metric, labels and value of one line; comments and broken lines are none.
fn series(line: &str) -> Option<(&str, Vec<&str>, f64)> {
    if line.starts_with('#') {
        return None;
    }
    let end = line
        .rfind('}')
        .map_or_else(|| line.find(' '), |at| Some(at + 1))?;
    let (name, rest) = line.split_at(end);
    let value = rest.split_whitespace().next()?.parse().ok()?;
    let (metric, labels) = split(name);
    Some((metric, labels, value))
}

/// `name{a="1",b="2"}` as name and `a="1"`, `b="2"`. Commas inside values are not expected in names of
/// reasons and kept simple.
fn split(text: &str) -> (&str, Vec<&str>) {
    let Some((name, labels)) = text.trim().split_once('{') else {
        return (text.trim(), Vec::new());
    };
    let labels = labels.trim_end_matches('}').split(',').map(str::trim);
    (name, labels.filter(|label| !label.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_adds_up_and_leaves_out() {
        let page = "# HELP answers_total all\n\
                    # TYPE answers_total counter\n\
                    answers_total{reason=\"busy\",node=\"1\"} 2\n\
                    answers_total{reason=\"busy\",node=\"2\"} 3\n\
                    answers_total{reason=\"sold_out\"} 10 1700000000\n\
                    grants_total 7\n\
                    grants_total_other 9\n\
                    broken\n\n";
        let cases = [
            ("answers_total", Some(15.0)),
            ("answers_total{reason=\"busy\"}", Some(5.0)),
            ("answers_total{node=\"2\", reason=\"busy\"}", Some(3.0)),
            ("answers_total{reason=\"other\"}", None),
            ("grants_total", Some(7.0)),
            ("absent", None),
        ];
        for (metric, value) in cases {
            let wanted = [("name".to_owned(), metric.to_owned())].into();
            assert_eq!(
                counters(page, &wanted).get("name").copied(),
                value,
                "{metric}"
            );
        }
    }
}
