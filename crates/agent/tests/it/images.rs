//! Images reach the model; the oldest ones are replaced by a note.

use millpond_agent::agent_loop::ModelAgentConfig;
use millpond_agent::model::ModelApi;
use millpond_engine::event::{Event, Image};
use millpond_log::digest::Digest;
use millpond_log::queue::Delivery;
use millpond_log::store::Store;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::scripted_provider::{
    HTTP_OK_HEAD as OK_HEAD, ScriptedReply, provider_at, read_request, serve_replies,
};
use crate::test_gateway::{TestGateway, demo_config, final_message_text, sample_folder};

const OK_REPLY: ScriptedReply = ScriptedReply { text: "I see.", call: None, input_tokens: 10 };

fn store_image(gateway: &TestGateway, bytes: &[u8]) -> Image<'static> {
    let digest = Digest::sha256(bytes);
    gateway.store.store_blob_for_session(gateway.session, digest.0, "image/png", bytes).unwrap();
    Image::Kept { media_type: "image/png".into(), digest: digest.to_string().into() }
}

fn image_count(message: &Value) -> usize {
    let parts = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    parts.iter().filter(|part| part["type"] == "image_url").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_reaches_the_model_and_the_oldest_is_named() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let (provider, requests) = serve_replies(vec![OK_REPLY]).await;
    let gateway =
        TestGateway::new(data.path(), ModelAgentConfig { provider, ..demo_config(folder.path()) })
            .await;
    let images: Vec<Image<'_>> = (0..7_u8).map(|n| store_image(&gateway, &[n])).collect();
    let run = gateway.send_with_images("Look", images.clone(), Delivery::NextRun).await;
    let events = gateway.events_to_end(run).await;
    assert!(events.contains(&Event::PromptReceived {
        text: "Look".into(),
        images,
        origin: millpond_engine::event::PromptOrigin::Person
    }));
    let run = gateway
        .send_with_images(
            "",
            vec![store_image(&gateway, b"8"), store_image(&gateway, b"9")],
            Delivery::NextRun,
        )
        .await;
    gateway.events_to_end(run).await;

    let requests = requests.lock().unwrap();
    let user_messages = |request: &Value| -> Vec<Value> {
        let messages = request["messages"].as_array().unwrap().iter();
        messages.filter(|message| message["role"] == "user").cloned().collect()
    };
    let first = user_messages(&requests[0]);
    assert_eq!((first.len(), image_count(&first[0])), (1, 7));
    assert_eq!(first[0]["content"][0], json!({"type": "text", "text": "Look"}));
    assert_eq!(first[0]["content"][1]["image_url"]["url"], "data:image/png;base64,AA==");
    let second = user_messages(&requests[1]);
    assert_eq!((image_count(&second[0]), image_count(&second[1])), (6, 2), "the newest eight");
    let first_url = second[0]["content"][1]["image_url"]["url"].as_str().unwrap();
    assert_eq!(first_url, "data:image/png;base64,AQ==", "the oldest image is omitted");
    let text = second[0]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Look\n\n(An image attached"), "{text}");
    assert_eq!(second[1]["content"][0]["type"], "image_url", "no blank words");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_joins_a_run_and_survives_a_restart() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let gateway = TestGateway::new(data.path(), demo_config(folder.path())).await;
    let run = gateway.send("write still water").await;
    let ask = gateway.wait_for_ask(run).await;
    let image = store_image(&gateway, b"1");
    gateway.send_with_images("like this", vec![image.clone()], Delivery::CurrentRun).await;
    gateway.answer(run, &ask, "allow").await;
    let joined_prompt = Event::PromptReceived {
        text: "like this".into(),
        images: vec![image.clone()],
        origin: millpond_engine::event::PromptOrigin::Person,
    };
    assert!(gateway.events_to_end(run).await.contains(&joined_prompt));

    let run = gateway.send("write more").await;
    gateway.wait_for_ask(run).await;
    let next_run =
        gateway.send_with_images("then this", vec![image.clone()], Delivery::NextRun).await;
    let gateway = gateway.restart(demo_config(folder.path())).await;
    assert_eq!(gateway.queue()[0].images, [image]);
    gateway.scheduler.runs.request_cancel(run);
    let events = gateway.events_to_end(next_run).await;
    assert!(matches!(&events[1], Event::PromptReceived { images, .. } if images.len() == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_is_refused_does_not_end_the_conversation() {
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = read_request(&mut stream).await else { continue };
            let answer = if body.contains("image_url") {
                "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n{\"error\":\"no eyes\"}"
                    .to_owned()
            } else {
                assert!(body.contains("An image attached to this message"), "{body}");
                let reply = r#"{"choices":[{"index":0,"delta":{"content":"I cannot see."},"finish_reason":"stop"}]}"#;
                format!("{OK_HEAD}data: {reply}\n\ndata: [DONE]\n\n")
            };
            let _gone = stream.write_all(answer.as_bytes()).await;
        }
    });
    let provider = provider_at(ModelApi::Chat, &address);
    let gateway =
        TestGateway::new(data.path(), ModelAgentConfig { provider, ..demo_config(folder.path()) })
            .await;
    for _ in 0..2 {
        let run = gateway
            .send_with_images("Look", vec![store_image(&gateway, b"1")], Delivery::NextRun)
            .await;
        let events = gateway.events_to_end(run).await;
        assert_eq!(final_message_text(&events), "I cannot see.");
        let has_notice = events.iter().any(
            |event| matches!(event, Event::NoticeGiven { text, .. } if text.contains("no eyes")),
        );
        assert!(has_notice, "{events:?}");
    }
}
