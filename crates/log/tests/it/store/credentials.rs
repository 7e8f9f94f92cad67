//! Tokens and shared links.

use millpond_log::id::{ShareId, TokenId};
use millpond_log::store::{CredentialStore, Share, Token};

use super::*;

fn token(n: u8) -> Token {
    Token {
        id: TokenId::new(u64::from(n), [n; 10]),
        owner: owner(1),
        digest: [n; 32],
        label: format!("token {n}"),
        created_ms: 3,
        revoked_ms: None,
    }
}

#[test]
fn a_token_is_found_by_its_digest_and_revoked_by_its_owner_only() {
    let test_store = open_test_store();
    test_store.store.store_token(&token(1)).unwrap();
    test_store.store.store_token(&token(2)).unwrap();
    let TestStore { store, .. } = &test_store.reopen();
    assert_eq!(store.token_by_digest_even_revoked([1; 32]), Ok(Some(token(1))));
    assert_eq!(store.token_by_digest_even_revoked([3; 32]), Ok(None));
    assert_eq!(store.owner_tokens_even_revoked(owner(1)), Ok(vec![token(1), token(2)]));
    assert_eq!(store.revoke_token_of_owner(owner(2), token(1).id, 5), Ok(false));
    assert_eq!(store.revoke_token_of_owner(owner(1), token(1).id, 5), Ok(true));
    assert_eq!(store.revoke_token_of_owner(owner(1), token(1).id, 9), Ok(true));
    let revoked = Token { revoked_ms: Some(5), ..token(1) };
    assert_eq!(store.token_by_digest_even_revoked([1; 32]), Ok(Some(revoked)));
}

#[test]
fn a_share_goes_when_it_is_revoked_or_its_session_erased() {
    let TestStore { store, .. } = &open_with_sessions(2);
    let share = |n: u8, session| Share {
        id: ShareId::new(u64::from(n), [n; 10]),
        session: session_id(session),
        digest: [n; 32],
        created_ms: 1,
    };
    for (n, session) in [(1, 1), (2, 1), (3, 2)] {
        store.store_share(&share(n, session)).unwrap();
    }
    assert_eq!(store.share_by_digest([2; 32]), Ok(Some(share(2, 1))));
    assert_eq!(store.session_shares(session_id(1)), Ok(vec![share(1, 1), share(2, 1)]));
    assert_eq!(store.delete_share_of_session(session_id(2), share(2, 1).id), Ok(false));
    assert_eq!(store.delete_share_of_session(session_id(1), share(2, 1).id), Ok(true));
    assert_eq!(store.share_by_digest([2; 32]), Ok(None));
    store.erase_session(session_id(1)).unwrap();
    assert_eq!(store.share_by_digest([1; 32]), Ok(None));
    assert_eq!(store.share_by_digest([3; 32]), Ok(Some(share(3, 2))));
}
