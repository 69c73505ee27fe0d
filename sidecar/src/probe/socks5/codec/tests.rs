//! The reader reads all messages of the writer, and rejects other bytes without a panic.

use proptest::prelude::*;

use super::*;

fn address() -> impl Strategy<Value = Address> {
    prop_oneof![
        (any::<[u8; 4]>(), any::<u16>()).prop_map(|(ip, port)| Address::Ip((ip, port).into())),
        (any::<[u8; 16]>(), any::<u16>()).prop_map(|(ip, port)| Address::Ip((ip, port).into())),
        ("[a-z0-9.-]{1,255}", any::<u16>()).prop_map(|(name, port)| Address::Domain(name, port)),
        ("\\PC{1,60}", any::<u16>()).prop_map(|(name, port)| Address::Domain(name, port)),
    ]
}

/// A reply that grants, as a proxy writes it: a request with another second byte.
fn granted(address: &Address) -> Vec<u8> {
    let mut bytes = request(Command::Connect, address);
    bytes[1] = 0;
    bytes
}

/// Bytes that are often close to a message.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let valid = prop_oneof![
        address().prop_map(|address| granted(&address)),
        address().prop_map(|address| udp_header(&address)),
    ];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..600),
        (
            valid,
            prop::collection::vec((any::<usize>(), any::<u8>()), 0..4),
            any::<usize>()
        )
            .prop_map(|(mut bytes, changes, length)| {
                for (at, byte) in changes {
                    let at = at % bytes.len();
                    bytes[at] = byte;
                }
                bytes.truncate(length % (bytes.len() + 1));
                bytes
            }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reply_is_read_as_it_was_written(address in address(), more in prop::collection::vec(any::<u8>(), 0..20)) {
        let mut bytes = granted(&address);
        let used = bytes.len();
        for length in 0..used {
            prop_assert_eq!(reply(&bytes[..length]), Err(Bad::Short));
        }
        bytes.extend(more);
        prop_assert_eq!(reply(&bytes), Ok(Reply::Granted(address, used)));
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written(address in address(), payload in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut datagram = udp_header(&address);
        let header = datagram.len();
        for length in 0..header {
            prop_assert_eq!(read_udp_header(&datagram[..length]), Err(Bad::Short));
            prop_assert_eq!(udp_header_bytes(&datagram[..length]), Err(Bad::Short));
        }
        datagram.extend(payload);
        prop_assert_eq!(udp_header_bytes(&datagram), Ok(header));
        prop_assert_eq!(read_udp_header(&datagram), Ok((address, header)));
    }

    #[test]
    fn nothing_but_a_reply_is_taken_for_one(bytes in bytes()) {
        match reply(&bytes) {
            Ok(Reply::Granted(address, used)) => {
                prop_assert!(used <= bytes.len() && used <= MAX_REPLY_BYTES);
                prop_assert_eq!(granted(&address), &bytes[..used]);
            }
            Ok(Reply::Refused(code)) => {
                prop_assert!(bytes[0] == VERSION && bytes[1] == code && code != 0);
            }
            Err(Bad::Short) => prop_assert!(bytes.len() < MAX_REPLY_BYTES),
            Err(_) => {}
        }
    }

    #[test]
    fn nothing_but_a_udp_header_is_taken_for_one(bytes in bytes()) {
        let length = udp_header_bytes(&bytes);
        match read_udp_header(&bytes) {
            Ok((address, used)) => {
                prop_assert_eq!(length, Ok(used));
                prop_assert_eq!(udp_header(&address), &bytes[..used]);
            }
            // The quick look does not read the name.
            Err(Bad::Domain) if bytes[4] > 0 => prop_assert!(length.is_ok()),
            Err(bad) => prop_assert_eq!(length, Err(bad)),
        }
    }

    #[test]
    fn logins_hold_what_was_given(username in "\\PC{1,60}", password in "\\PC{1,60}") {
        let bytes = login(&username, &password);
        prop_assert_eq!(bytes[0], AUTH_VERSION);
        let (name, rest) = bytes[2..].split_at(usize::from(bytes[1]));
        prop_assert_eq!(name, username.as_bytes());
        prop_assert_eq!(usize::from(rest[0]), password.len());
        prop_assert_eq!(&rest[1..], password.as_bytes());
    }

    #[test]
    fn answers_to_greeting_and_login_are_the_few_that_there_are(answer in any::<[u8; 2]>(), login in any::<bool>()) {
        match method(answer, login) {
            Ok(Method::None) => prop_assert_eq!(answer, [5, 0]),
            Ok(Method::Password) => prop_assert!(login && answer == [5, 2]),
            Ok(Method::Refused) => prop_assert_eq!(answer, [5, 255]),
            Err(_) => prop_assert!(answer[0] != 5 || ![0, 255].contains(&answer[1])),
        }
        prop_assert_eq!(login_answer(answer).is_ok(), answer[0] == 1);
    }
}

#[test]
fn messages_of_the_rfcs() {
    let ipv4 = Address::Ip(([127, 0, 0, 1], 9_000).into());
    let bytes = [5, 1, 0, 1, 127, 0, 0, 1, 0x23, 0x28];
    assert_eq!(request(Command::Connect, &ipv4), bytes);
    let name = Address::Domain("ab".to_owned(), 80);
    let bytes = [5, 3, 0, 3, 2, b'a', b'b', 0, 80];
    assert_eq!(request(Command::UdpAssociate, &name), bytes);
    assert_eq!(greeting(false), [5, 1, 0]);
    assert_eq!(greeting(true), [5, 2, 0, 2]);
    assert_eq!(login("u", "pw"), [1, 1, b'u', 2, b'p', b'w']);
    assert_eq!(method([21, 3], false), Err(Bad::Tls));
    assert_eq!(method([22, 4], false), Err(Bad::Version(22)));
    assert_eq!(reply(&[5, 5]), Ok(Reply::Refused(5)));
    assert_eq!(reply(&[4]), Err(Bad::Version(4)));
    assert_eq!(reply(&[5, 0, 1]), Err(Bad::Reserved));
    assert_eq!(reply(&[5, 0, 0, 2]), Err(Bad::AddressType(2)));
    let open = Address::Domain(String::new(), 9);
    assert_eq!(reply(&[5, 0, 0, 3, 0, 0, 9]), Ok(Reply::Granted(open, 7)));
    assert_eq!(udp_header_bytes(&[0, 0, 1, 1]), Err(Bad::Fragment));
    assert_eq!(udp_header_bytes(&[0, 1, 0, 1]), Err(Bad::Reserved));
}
