//! Reads all stores by the queries of the target file.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::try_join_all;

use super::cache::{CacheSource, integer, integers_by_field};
use super::metrics::counters;
use super::routes::Routes;
use super::store::{StoreQueries, StoreSource};
use super::{Endpoints, ObserveError, Sample};
use crate::drill::plan::Plan;
use crate::history::final_state::{CacheRow, StoreState};
use crate::target::template::{Variables, fill};

/// Connected lazily, and again after a failure; a failed reading is part of its result.
pub struct StoreReader {
    store: StoreSource,
    cache: CacheSource,
    skus: Vec<CacheQueries>,
    service: Service,
}

/// The cache commands of one SKU.
struct CacheQueries {
    sku: String,
    /// Empty: the target has no cache.
    available: Vec<String>,
    /// Empty: the target cannot tell who holds what.
    held: Vec<String>,
}

/// Where the nodes of the service show their counters.
struct Service {
    client: reqwest::Client,
    urls: Vec<String>,
    counters: BTreeMap<String, String>,
}

impl StoreReader {
    /// A reader of the plan's sale; `limit` bounds each command, query and request.
    ///
    /// # Errors
    /// A query of the target names an unknown variable, or a command has no key.
    pub fn new(
        plan: &Plan,
        variables: &Variables,
        endpoints: &Endpoints,
        limit: Duration,
    ) -> Result<Self, ObserveError> {
        let mut variables = variables.clone();
        variables.insert("sale".to_owned(), plan.sale.id.clone());
        let queries = &plan.target.state;
        let asked = StoreQueries {
            orders: filled("state.orders", &queries.orders, &variables)?,
            stock: filled("state.stock", &queries.stock, &variables)?,
            undelivered: filled("state.undelivered", &queries.undelivered, &variables)?,
        };
        let states = queries.order_states.clone();
        let client = reqwest::Client::builder().no_proxy().timeout(limit).build();
        Ok(Self {
            store: StoreSource::new(&endpoints.mysql_url, asked, states, limit),
            cache: CacheSource::new(endpoints.redis_nodes.clone(), limit),
            skus: cache_queries(plan, &variables)?,
            service: Service {
                client: client.map_err(ObserveError::Http)?,
                urls: endpoints
                    .service_urls
                    .iter()
                    .map(|node| format!("{node}{}", queries.metrics_path))
                    .collect(),
                counters: queries.counters.clone(),
            },
        })
    }

    /// Everything but the queue, which has its own reader. What fails is named in `unread`.
    pub async fn read(&mut self) -> StoreState {
        let mut state = StoreState::default();
        match self.store.snapshot().await {
            Ok(snapshot) => {
                (state.orders, state.stock) = (snapshot.orders, snapshot.stock);
                state.undelivered = snapshot.undelivered;
            }
            Err(error) => state.unread.push(format!("store: {error}")),
        }
        self.read_cache(&mut state).await;
        match self.service.counters().await {
            Ok(counters) => state.counters = counters,
            Err(error) => state.unread.push(format!("counters: {error}")),
        }
        state
    }

    /// Everything. The queue is read last: what it still held when the stores were read shows up.
    pub async fn read_all<B, F>(&mut self, backlog: &B) -> StoreState
    where
        B: Fn() -> F,
        F: Future<Output = Result<u64, String>>,
    {
        let mut state = self.read().await;
        add_backlog(&mut state, backlog().await);
        state
    }

    async fn read_cache(&mut self, state: &mut StoreState) {
        if !self.has_cache() {
            return;
        }
        let routes = match self.cache.routes().await {
            Ok(routes) => routes,
            Err(error) => return state.unread.push(format!("cache: {error}")),
        };
        for queries in &self.skus {
            match cache_row(&mut self.cache, &routes, queries).await {
                Ok(row) => state.cache.push(row),
                Err(error) => state
                    .unread
                    .push(format!("cache, {}: {error}", queries.sku)),
            }
        }
    }

    fn has_cache(&self) -> bool {
        self.skus
            .iter()
            .any(|queries| !queries.available.is_empty())
    }

    /// A cheap reading; what does not answer is left out.
    pub async fn sample(&mut self) -> Sample {
        let has_cache = self.has_cache();
        let (store, cache, service) = (&mut self.store, &mut self.cache, &self.service);
        let ((stock, asked), (cached, commands), counters) = tokio::join!(
            async { (store.stock().await, store.calls().await) },
            async {
                (
                    cached_stock(cache, &self.skus, has_cache).await,
                    cache.calls().await,
                )
            },
            service.counters()
        );
        let calls = [("mysql", asked), ("redis", commands)].into_iter();
        let counted = calls.filter_map(|(store, calls)| Some((store.to_owned(), calls.ok()?)));
        let stock: Option<Vec<i64>> = stock
            .ok()
            .map(|rows| rows.iter().map(|row| row.available).collect());
        Sample {
            store_available: stock.as_ref().map(|units| units.iter().sum()),
            store_available_min: stock.and_then(|units| units.into_iter().min()),
            cache_available: cached.as_ref().map(|units| units.iter().sum()),
            cache_available_min: cached.and_then(|units| units.into_iter().min()),
            store_calls: counted.collect(),
            counters: counters.unwrap_or_default(),
            ..Sample::default()
        }
    }
}

/// Puts the queue's answer into a reading.
pub fn add_backlog(state: &mut StoreState, backlog: Result<u64, String>) {
    match backlog {
        Ok(left) => state.queue_backlog = Some(left),
        Err(error) => state.unread.push(format!("queue: {error}")),
    }
}

async fn cache_row(
    cache: &mut CacheSource,
    routes: &Routes,
    queries: &CacheQueries,
) -> Result<CacheRow, String> {
    let available = integer(&cache.ask(routes, &queries.available).await?)?;
    let held = if queries.held.is_empty() {
        BTreeMap::new()
    } else {
        integers_by_field(&cache.ask(routes, &queries.held).await?)?
    };
    Ok(CacheRow {
        sku: queries.sku.clone(),
        available,
        held,
    })
}

/// Units of every SKU in the cache; None as soon as one does not answer.
async fn cached_stock(
    cache: &mut CacheSource,
    skus: &[CacheQueries],
    has_cache: bool,
) -> Option<Vec<i64>> {
    if !has_cache {
        return None;
    }
    let routes = cache.routes().await.ok()?;
    let mut units = Vec::with_capacity(skus.len());
    for queries in skus {
        let answer = cache.ask(&routes, &queries.available).await.ok()?;
        units.push(integer(&answer).ok()?.unwrap_or(0));
    }
    Some(units)
}

impl Service {
    /// Sums over the nodes, each since its last start.
    async fn counters(&self) -> Result<BTreeMap<String, f64>, String> {
        let mut sums = BTreeMap::new();
        if self.counters.is_empty() {
            return Ok(sums);
        }
        for node in try_join_all(self.urls.iter().map(|url| self.counters_of(url))).await? {
            for (name, count) in node {
                *sums.entry(name).or_default() += count;
            }
        }
        Ok(sums)
    }

    async fn counters_of(&self, url: &str) -> Result<BTreeMap<String, f64>, String> {
        let answer = self.client.get(url).send().await;
        let page = match answer.and_then(reqwest::Response::error_for_status) {
            Ok(response) => response.text().await,
            Err(error) => Err(error),
        };
        let page = page.map_err(|error| format!("{url}: {error}"))?;
        Ok(counters(&page, &self.counters))
    }
}

fn cache_queries(plan: &Plan, variables: &Variables) -> Result<Vec<CacheQueries>, ObserveError> {
    let queries = &plan.target.state;
    let of_sku = |id: &str| {
        let mut variables = variables.clone();
        variables.insert("sku".to_owned(), id.to_owned());
        Ok(CacheQueries {
            sku: id.to_owned(),
            available: command(
                "state.cache_available",
                &queries.cache_available,
                &variables,
            )?,
            held: command("state.cache_held", &queries.cache_held, &variables)?,
        })
    };
    plan.sale.skus.iter().map(|sku| of_sku(&sku.id)).collect()
}

/// A command with its key, or nothing at all.
fn command(
    query: &'static str,
    parts: &[String],
    variables: &Variables,
) -> Result<Vec<String>, ObserveError> {
    if parts.len() == 1 {
        return Err(ObserveError::Command { query });
    }
    parts
        .iter()
        .map(|part| filled(query, part, variables))
        .collect()
}

fn filled(query: &'static str, text: &str, variables: &Variables) -> Result<String, ObserveError> {
    fill(text, variables).map_err(|source| ObserveError::Template { query, source })
}
