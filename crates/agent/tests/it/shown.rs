//! Pictures that a person shows reach the model, those that came longest ago as words.

use agent::model::Wire;
use agent::rounds::Setup;
use engine::event::{Event, Image};
use gateway::digest::Digest;
use gateway::messages::Turn;
use gateway::store::Store;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::house::{House, demo, folder, reply};
use crate::scripted::{OK as OK_HEAD, Reply, provider, read_request, saying};

const OK: Reply = Reply { text: "I see.", call: None, input_tokens: 10 };

fn kept(house: &House, bytes: &[u8]) -> Image<'static> {
    let digest = Digest::of(bytes);
    house.store.put_blob(house.session, digest.0, "image/png", bytes).unwrap();
    Image::Kept { media_type: "image/png".into(), digest: digest.to_string().into() }
}

fn pictures(message: &Value) -> usize {
    let parts = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    parts.iter().filter(|part| part["type"] == "image_url").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_reaches_the_model_and_the_oldest_is_named() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let (provider, asked) = saying(vec![OK]).await;
    let house = House::new(data.path(), Setup { provider, ..demo(folder.path()) }).await;
    let images: Vec<Image<'_>> = (0..7_u8).map(|n| kept(&house, &[n])).collect();
    let run = house.show("Look", images.clone(), Turn::Next).await;
    let events = house.whole(run).await;
    assert!(events.contains(&Event::PromptReceived { text: "Look".into(), images }));
    let run = house.show("", vec![kept(&house, b"8"), kept(&house, b"9")], Turn::Next).await;
    house.whole(run).await;

    let asked = asked.lock().unwrap();
    let people = |request: &Value| -> Vec<Value> {
        let messages = request["messages"].as_array().unwrap().iter();
        messages.filter(|message| message["role"] == "user").cloned().collect()
    };
    let first = people(&asked[0]);
    assert_eq!((first.len(), pictures(&first[0])), (1, 7));
    assert_eq!(first[0]["content"][0], json!({"type": "text", "text": "Look"}));
    assert_eq!(first[0]["content"][1]["image_url"]["url"], "data:image/png;base64,AA==");
    let second = people(&asked[1]);
    assert_eq!((pictures(&second[0]), pictures(&second[1])), (6, 2), "the newest eight");
    let first = second[0]["content"][1]["image_url"]["url"].as_str().unwrap();
    assert_eq!(first, "data:image/png;base64,AQ==", "the oldest is left out");
    let words = second[0]["content"][0]["text"].as_str().unwrap();
    assert!(words.starts_with("Look\n\n(A picture that came"), "{words}");
    assert_eq!(second[1]["content"][0]["type"], "image_url", "no blank words");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_joins_a_run_and_survives_a_restart() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let house = House::new(data.path(), demo(folder.path())).await;
    let run = house.send("write still water").await;
    let ask = house.asked(run).await;
    let image = kept(&house, b"1");
    house.show("like this", vec![image.clone()], Turn::Join).await;
    house.answer(run, &ask, "allow").await;
    let joined = Event::PromptReceived { text: "like this".into(), images: vec![image.clone()] };
    assert!(house.whole(run).await.contains(&joined));

    let run = house.send("write more").await;
    house.asked(run).await;
    let next = house.show("then this", vec![image.clone()], Turn::Next).await;
    let house = house.restart(demo(folder.path())).await;
    assert_eq!(house.queue()[0].images, [image]);
    house.gateway.runs.cancel(run);
    let events = house.whole(next).await;
    assert!(matches!(&events[1], Event::PromptReceived { images, .. } if images.len() == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_is_refused_does_not_end_the_conversation() {
    let (folder, data) = (folder(), tempfile::tempdir().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = read_request(&mut stream).await else { continue };
            let answer = if body.contains("image_url") {
                "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n{\"error\":\"no eyes\"}"
                    .to_owned()
            } else {
                assert!(body.contains("A picture that came with this message"), "{body}");
                let said = r#"{"choices":[{"index":0,"delta":{"content":"I cannot see."},"finish_reason":"stop"}]}"#;
                format!("{OK_HEAD}data: {said}\n\ndata: [DONE]\n\n")
            };
            let _gone = stream.write_all(answer.as_bytes()).await;
        }
    });
    let provider = provider(Wire::Chat, &address);
    let house = House::new(data.path(), Setup { provider, ..demo(folder.path()) }).await;
    for _ in 0..2 {
        let run = house.show("Look", vec![kept(&house, b"1")], Turn::Next).await;
        let events = house.whole(run).await;
        assert_eq!(reply(&events), "I cannot see.");
        let told = events.iter().any(
            |event| matches!(event, Event::NoticeGiven { text, .. } if text.contains("no eyes")),
        );
        assert!(told, "{events:?}");
    }
}
