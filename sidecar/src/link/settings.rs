//! The settings of a link's two directions, and the items that set them.

use serde::Serialize;

use super::units::{self, Wrong, wrong};

/// The keys of items, in texts and in files. The prefix `up.` or `down.` limits an item to one direction.
pub const KEYS: [&str; 14] = [
    "rtt",
    "delay",
    "jitter",
    "jitter_reorders",
    "rate",
    "queue",
    "loss",
    "burst",
    "burst_loss",
    "reorder",
    "reorder_by",
    "duplicate",
    "corrupt",
    "dead",
];

/// Size of an IPv4 or IPv6 packet with a full segment, bytes.
pub const PACKET_BYTES: u64 = 1_500;
/// The least number of full packets that a queue given in BDP holds.
const FEWEST_PACKETS: u64 = 10;

/// The limit of waiting traffic. Above it, packets are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    Bytes(u64),
    Packets(u64),
    /// Multiple of rate × round-trip time.
    Bdp(f64),
}

/// Settings of one direction.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Side {
    /// Time from the end of the line's work on a packet to its arrival.
    pub delay_ns: u64,
    /// Packets arrive earlier or later by up to this, evenly distributed.
    pub jitter_ns: u64,
    /// Whether jitter may change the order of packets.
    pub jitter_reorders: bool,
    /// Without a rate, each packet leaves at once and none waits.
    pub rate_bit_s: Option<u64>,
    pub queue: Queue,
    /// Share of packets that are lost after the queue.
    pub loss: f64,
    /// Mean length of a bad spell, packets. 1 means that packets are lost independently (Gilbert-Elliott).
    pub burst: f64,
    /// Share of packets that are lost in a bad spell.
    pub burst_loss: f64,
    /// Share of packets that arrive `reorder_by_ns` late.
    pub reorder: f64,
    pub reorder_by_ns: u64,
    /// Share of packets that arrive twice.
    pub duplicate: f64,
    /// Share of packets with one wrong bit.
    pub corrupt: f64,
    /// All packets are lost.
    pub dead: bool,
}

impl Default for Side {
    fn default() -> Self {
        Self {
            delay_ns: 0,
            jitter_ns: 0,
            jitter_reorders: false,
            rate_bit_s: None,
            queue: Queue::Bdp(1.0),
            loss: 0.0,
            burst: 1.0,
            burst_loss: 1.0,
            reorder: 0.0,
            reorder_by_ns: 5_000_000,
            duplicate: 0.0,
            corrupt: 0.0,
            dead: false,
        }
    }
}

/// Settings of both directions. `up` is from the near end, where the client is, to the far end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
pub struct Settings {
    pub up: Side,
    pub down: Side,
}

impl Settings {
    /// Sets one item. The key is one of [`KEYS`], with or without a direction.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Wrong> {
        if let Some(key) = key.strip_prefix("up.") {
            return self.up.set(key, value);
        }
        if let Some(key) = key.strip_prefix("down.") {
            return self.down.set(key, value);
        }
        if key == "rtt" {
            let rtt_ns = units::time_ns(value)?;
            self.up.delay_ns = rtt_ns / 2;
            self.down.delay_ns = rtt_ns - rtt_ns / 2;
            return Ok(());
        }
        self.up.set(key, value)?;
        self.down.set(key, value)
    }

    /// Checks settings against each other.
    pub fn check(&self) -> Result<(), Wrong> {
        for (name, side) in [("up", &self.up), ("down", &self.down)] {
            side.check()
                .map_err(|(wrong, mend)| (format!("{name}: {wrong}"), mend))?;
        }
        Ok(())
    }

    pub fn rtt_ns(&self) -> u64 {
        self.up.delay_ns + self.down.delay_ns
    }
}

impl Side {
    fn set(&mut self, key: &str, value: &str) -> Result<(), Wrong> {
        match key {
            "delay" => self.delay_ns = units::time_ns(value)?,
            "jitter" => self.jitter_ns = units::time_ns(value)?,
            "jitter_reorders" => self.jitter_reorders = units::yes(value)?,
            "rate" => self.rate_bit_s = units::rate(value)?,
            "queue" => self.queue = queue(value)?,
            "loss" => self.loss = units::share(value)?,
            "burst" => self.burst = units::packets(value)?,
            "burst_loss" => self.burst_loss = units::share(value)?,
            "reorder" => self.reorder = units::share(value)?,
            "reorder_by" => self.reorder_by_ns = units::time_ns(value)?,
            "duplicate" => self.duplicate = units::share(value)?,
            "corrupt" => self.corrupt = units::share(value)?,
            "dead" => self.dead = units::yes(value)?,
            other => {
                let mend = format!("there are {}, seed and mtu", KEYS.join(", "));
                return Err(wrong(format!("a link has no `{other}`"), mend));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Wrong> {
        if self.jitter_ns > self.delay_ns {
            let mend = "give a delay of at least the jitter";
            return Err(wrong("jitter is more than delay", mend));
        }
        if self.burst > 1.0 && self.loss >= self.burst_loss {
            let mend = "give less loss than is lost in a bad spell";
            return Err(wrong("loss is not less than burst_loss", mend));
        }
        Ok(())
    }

    /// The most bytes and packets that may wait.
    pub fn room(&self, rtt_ns: u64) -> (u64, u64) {
        match self.queue {
            Queue::Bytes(bytes) => (bytes, u64::MAX),
            Queue::Packets(packets) => (u64::MAX, packets),
            Queue::Bdp(times) => {
                let rate = self.rate_bit_s.unwrap_or(0) as f64;
                let product = rate * rtt_ns as f64 / 8e9;
                let bytes = (product * times).round() as u64;
                (bytes.max(FEWEST_PACKETS * PACKET_BYTES), u64::MAX)
            }
        }
    }
}

fn queue(value: &str) -> Result<Queue, Wrong> {
    if value.ends_with("bdp") {
        return Ok(Queue::Bdp(units::products(value)?));
    }
    if value.ends_with('p') {
        return Ok(Queue::Packets(units::packets(value)? as u64));
    }
    let no_queue = |(size, _): Wrong| {
        let mend = "write 64kib, 100p (packets) or 1bdp";
        wrong(size.replace("not a size", "not a queue"), mend)
    };
    units::bytes(value).map(Queue::Bytes).map_err(no_queue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_set_both_directions_or_one() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("rtt", "101ms"),
            ("rate", "50mbit"),
            ("up.rate", "10mbit"),
            ("down.loss", "1%"),
            ("queue", "100p"),
        ] {
            settings.set(key, value).unwrap();
        }
        assert_eq!(settings.rtt_ns(), 101_000_000);
        assert_eq!(settings.up.rate_bit_s, Some(10_000_000));
        assert_eq!(settings.down.rate_bit_s, Some(50_000_000));
        assert_eq!((settings.up.loss, settings.down.loss), (0.0, 0.01));
        assert_eq!(settings.up.room(0), (u64::MAX, 100));
    }

    #[test]
    fn a_queue_in_bdp_is_rate_times_round_trip_and_never_less_than_ten_packets() {
        let mut settings = Settings::default();
        settings.set("rate", "80mbit").unwrap();
        settings.set("queue", "2bdp").unwrap();
        assert_eq!(settings.up.room(100_000_000), (2_000_000, u64::MAX));
        assert_eq!(settings.up.room(0), (15_000, u64::MAX));
    }

    #[test]
    fn unknown_or_contradictory_items_are_errors() {
        let mut settings = Settings::default();
        assert!(settings.set("lag", "1ms").unwrap_err().0.contains("`lag`"));
        assert!(
            settings
                .set("up.rtt", "1ms")
                .unwrap_err()
                .0
                .contains("`rtt`")
        );
        assert!(settings.set("queue", "64").unwrap_err().1.contains("1bdp"));
        settings.set("jitter", "5ms").unwrap();
        assert!(settings.check().unwrap_err().0.starts_with("up: jitter"));
        settings.set("rtt", "20ms").unwrap();
        settings.check().unwrap();
        for (key, value) in [("loss", "60%"), ("burst", "4p"), ("burst_loss", "50%")] {
            settings.set(key, value).unwrap();
        }
        assert!(settings.check().unwrap_err().0.contains("burst_loss"));
    }
}
