//! Sentences of many languages; `¦` marks each end.

use crate::sentence::tests::check_all;

#[test]
fn f2_the_cases_of_the_rule_hold() {
    check_all(&[
        "Pi is 3.14 or so. ¦See google.com for e.g. this. ¦Ask Dr. Smith.",
        "Mieszka przy ul. Długiej, np. tak. ¦Wersja v1.2.3 działa. ¦Naprawdę?! ¦Tak!",
        "Really?! ¦Yes!!! ¦Well... ¦So… ¦He said \"Go.\" ¦Then (he left.) ¦End",
        "J. R. R. Tolkien wrote it. ¦J.R.R. Tolkien did.",
    ]);
}

#[test]
fn f2_english() {
    check_all(&[
        "I'll check the file. ¦Now let me run it. ¦Done!",
        "It costs $5. ¦$6 is too much. ¦That's 600. ¦How many?",
        "Use Node.js. ¦Then install it. ¦OK. ¦Let's go. ¦No. ¦I won't.",
        "Mr. and Mrs. Smith met Sen. Jones, Gen. Lee and Rev. Brown. ¦They left.",
        "It took 5 ms. ¦The end came at 5 p.m. ¦Bob left.",
        "Call at 5 p.m. Eastern or 9 a.m. Monday. ¦At 5 p.m. ¦We left.",
        "Step 1. Open it. ¦**Step 2.** Close it. ¦Go back to step 1. ¦Then stop.",
        "It is 5 m. ¦Bob runs 10 km. ¦Ann waits 3 s. ¦Done.",
        "See Fig. 3, p. 5, vol. II and no. 7. ¦Then stop.",
        "He works at Apple Inc. ¦He likes it. ¦She is at Foo Ltd. as well, etc. ¦Nice.",
        "In the U.S. Army. ¦In the U.S. ¦The army.",
        "World War II. ¦It ended. ¦Vitamin C. ¦It helps.",
        "Great! 😊 ¦How can I help? 🎉🎉 ¦Tell me!",
        "One.\n¦🎉 Two.",
        "\"What is it?\" he asked. ¦\"Nothing. ¦Really.\" ¦She left.",
        "Wait... what? ¦who? ¦Me.",
        "It is (see above. Or below.) fine. ¦Yes (really!). ¦So.",
        "I work at Yahoo! in Paris. ¦Good!",
        "Foo [...] bar. ¦Foo […] bar. ¦(...) Baz.",
        "(a) One. ¦(b) Two. ¦(iii) Three. (not this)",
        "A. Smith et al. found it. ¦B. Jones et al. ¦We did not.",
    ]);
}

#[test]
fn f2_polish() {
    check_all(&[
        "Dzień dobry! ¦Nazywam się Jan. ¦Jak mogę pomóc?",
        "Mieszkam przy ul. Długiej 5, al. Jerozolimskie 7, os. Piastów i pl. Wolności. ¦To blisko.",
        "Prof. Jan Nowak, dr hab. Anna Kowalska, mgr inż. Piotr Zięba i ks. Adam. ¦Są tu.",
        "Lubię owoce, np. jabłka, tj. Antonówki, m.in. Szarą Renetę itd. ¦Warzywa też.",
        "W 2020 r. powstała firma. ¦W 1918 r. Polska odzyskała niepodległość. ¦W 2021 r. ¦Potem upadła.",
        "Urodził się w Łodzi w 1918 r. ¦Mieszkał tam do XX w. ¦Potem wyjechał.",
        "W dniu 3 maja 1791 r. Sejm uchwalił konstytucję. ¦W XIX w. Polska nie istniała.",
        "Zob. art. 5 ust. 2 pkt. 3, str. 7 i rys. 2. ¦Dalej nic.",
        "To kosztuje ok. 5 zł. ¦Tanio! ¦Mam 3 tys. ¦Pan ma 5.",
        "Spotkajmy się o godz. 15.30. ¦Pasuje?",
        "Szkoła im. Kopernika w woj. mazowieckim, gm. Raszyn. ¦Jest duża.",
        "Św. Jan, bł. Karolina. ¦Koniec.",
        "Tzw. „Duży Fiat” i film pt. „Lalka”. ¦Dobry!",
        "– Cześć! – powiedział Jan. ¦– Idziemy? ¦– Tak.",
        "„Idę. ¦Zostań tu” – rzekł. ¦„Dobrze.” ¦Poszedł.",
        "A. Mickiewicz i J. Słowacki byli poetami. ¦H. Sienkiewicz też.",
        "To był sen. ¦Anna wstała. ¦Dom był mały. ¦Kot spał.",
        "Firma XYZ Sp. z o.o. ¦To my. ¦Firma ABC S.A. w Łodzi.",
        "Gen. Anders, płk. Kukliński i por. Borewicz. ¦Żołnierze.",
        "Bitwa w 490 r. p.n.e. pod Maratonem. ¦Wygrali.",
        "Np. tak. ¦Itp. itd. ¦Naprawdę…? ¦No… nie wiem. ¦Może… ¦Zobaczymy.",
        "Wynik to 3,14. ¦Data: 12.05.2024. ¦Wersja 2.0. ¦Gotowe.",
        "Ma 5 lat. ¦Chodzi do 3. klasy. ¦Żyje w XXI w. ¦To prawda.",
        "Łódź leży w Polsce. ¦Święta są w grudniu. ¦Ćma lata. ¦Źle!",
    ]);
}

#[test]
fn f2_other_languages_are_not_broken() {
    check_all(&[
        "Am 12. Juni, z. B. Berliner Str. 5, d. h. bei Dr. med. Meyer. ¦Er ist da.",
        "Der 2. Weltkrieg und das 19. Jahrhundert. ¦Am 1. 5. 2020 kam er. ¦Wir haben 3. ¦Das reicht.",
        "„Ich gehe. ¦Bleib!“ ¦Er ging. ¦»Warte. ¦Halt!«, rief sie. ¦Ende.",
        "Elle dit « Oui. ¦Non. » et part. ¦M. Dupont est là. ¦Mme. Durand aussi.",
        "¿Qué tal? ¦¡Hola! ¦El Sr. López vive en la pág. 5. ¦Bien.",
        "Л. Н. Толстой жил на ул. Ленина в г. Москва. ¦Он писал. ¦Да!",
        "これはペンです。¦「はい。¦そう。」と言った。¦すごい！？¦本当!¦次。",
        "他说：“我走。¦你留。”¦她哭了！¦《摔跤吧！爸爸》好看。¦３．１４。",
        "네. ¦알겠습니다. ¦감사합니다!",
        "ما هذا؟ ¦هذا كتاب. ¦نعم!",
        "यह क्या है? ¦यह किताब है। ¦डॉ. शर्मा आए।",
        "Ի՞նչ ես մտածում: ¦Ոչինչ: ¦Այո։ ¦Ոչ:",
        "Τι κάνεις; ¦Καλά. ¦το σπίτι π.χ. εδώ. ¦Ναι.",
        "សួស្តី។¦បាទ។",
        "გამარჯობა. ¦როგორ ხარ? ¦კარგად.",
        "Thomas fragte: ,,Wann?” ,,Bald“, sagte sie. ¦Gut.",
    ]);
}

#[test]
fn f2_marks_after_a_stop() {
    check_all(&[
        "He left. ¦– She stayed.",
        "He left. ¦–\nShe stayed.",
        "He left. – she stayed.",
        "Well. ... ¦But yes.",
        "Well. ¦...but yes.",
        "Text.[] ¦Next one.",
        "Text.[1][2] ¦Next one.",
        "\"Hi.\". ¦Next one.",
        "(Yes.)! ¦Next one.",
        "Wait.. then we go.",
        "Wait.. ¦Then we go.",
        "Wait... then we go.",
        "He said hmm. and left.",
        "He said so. ¦and left.",
    ]);
}

#[test]
fn f2_names_with_numbers() {
    check_all(&[
        "Papież Jan Paweł II. ¦Wrócił w maju.",
        "Karl V. war Kaiser.",
        "Es war Karl V. ¦Er war Kaiser.",
        "Ludwik XIV. ¦Był królem.",
        "Am 3. 5. 2020 war es.",
        "Er kam am 5. Mai. ¦Sie blieb.",
        "Kapitel 5. Er kam.",
        "Mr. J. R. Smith came. ¦He left.",
    ]);
}

#[test]
fn f2_lists_with_letters() {
    check_all(&[
        "Vitamin\na. is good",
        "a. one\n¦b. two",
        "List:\n\n¦a. one\n¦b. two",
        "- item\n¦a. is good",
        "1. Vitamin\n¦a. is good",
    ]);
}
