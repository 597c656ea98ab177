//! A browser without a window, driven as a person would: the mouse goes where an element is, keys go to what has the focus. It is spoken to in
//! the protocol of its developer tools over a pipe, so that nothing listens anywhere, and it finds no network.
//!
//! Found by `WARPWRIGHT_CHROMIUM` (a full path) and, as `chromium`, `chromium-browser` or `google-chrome`, by `PATH`.

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long an answer may take before the browser counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser that is installed.
#[derive(Clone, Debug)]
pub struct Chromium(PathBuf);

/// A page in a running browser.
pub struct Tab {
    browser: Child,
    profile: PathBuf,
    to: ChildStdin,
    from: Receiver<Json>,
    session: Option<String>,
    count: u64,
    /// What happened in the page that is open, in order.
    events: Vec<Json>,
}

impl Chromium {
    /// One that runs, or none after saying that `test` is skipped.
    pub fn found_or_skip(test: &str) -> Option<Chromium> {
        let named = std::env::var_os("WARPWRIGHT_CHROMIUM").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let searched = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
        let runs = |file: &PathBuf| Command::new(file).arg("--version").output().is_ok_and(|output| output.status.success());
        let found = named.into_iter().chain(searched).filter(|file| file.is_file()).find(runs);
        if found.is_none() {
            println!("skipped: {test} (no Chromium)");
        }
        found.map(Chromium)
    }

    /// Starts it, with a window of this size.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[track_caller]
    pub fn start(&self, width: u32, height: u32) -> Tab {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("warpwright-chromium-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let profile = std::env::temp_dir().join(name);
        // The browser reads from descriptor 3 and writes to 4; a shell puts the pipes there.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"]).arg(&self.0);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
        ]);
        // Whatever is asked for by name or address is refused.
        command.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>"]);
        command.arg(format!("--window-size={width},{height}")).arg(format!("--user-data-dir={}", profile.display()));
        let mut browser =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a shell starts the browser");
        let to = browser.stdin.take().expect("a pipe");
        let mut answers = BufReader::new(browser.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                if serde_json::from_slice(&message).is_ok_and(|answer: Json| sender.send(answer).is_err()) {
                    return;
                }
                message.clear();
            }
        });
        let mut tab = Tab { browser, profile, to, from, session: None, count: 0, events: Vec::new() };
        let target = tab.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let session = tab.ask("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            tab.ask(domain, json!({}));
        }
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.ask("Emulation.setDeviceMetricsOverride", size);
        tab
    }
}

impl Tab {
    /// Opens a file with this behind `#`, afresh.
    #[track_caller]
    pub fn open(&mut self, file: &Path, address: &str) {
        // From one address behind `#` to another nothing would be loaded.
        for url in ["about:blank".to_owned(), format!("file://{}#{address}", file.display())] {
            self.events.clear();
            let went = self.ask("Page.navigate", json!({ "url": url }));
            assert!(went["errorText"].is_null(), "{url}: {went}");
            while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
                let event = self.from.recv_timeout(PATIENCE).expect("the page loads");
                self.events.push(event);
            }
        }
    }

    /// The document as it stands, as HTML.
    #[track_caller]
    pub fn html(&mut self) -> String {
        self.evaluate("document.documentElement.outerHTML").as_str().expect("text").to_owned()
    }

    /// What an expression is in the page, as JSON.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Json {
        let mut found = self.ask("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }));
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].take()
    }

    /// Moves the mouse to the middle of the first element that a selector finds, which is brought into view.
    #[track_caller]
    pub fn point(&mut self, selector: &str) -> (f64, f64) {
        let selector = json!(selector);
        let place = format!(
            "(() => {{ const e = document.querySelector({selector}); e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        );
        let place = self.evaluate(&place);
        let place = (place[0].as_f64().expect("across"), place[1].as_f64().expect("down"));
        self.mouse("mouseMoved", place, "none");
        place
    }

    /// Clicks on it.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.point(selector);
        self.mouse("mousePressed", place, "left");
        self.mouse("mouseReleased", place, "left");
    }

    #[track_caller]
    fn mouse(&mut self, what: &str, (x, y): (f64, f64), button: &str) {
        self.ask("Input.dispatchMouseEvent", json!({ "type": what, "x": x, "y": y, "button": button, "clickCount": 1 }));
    }

    /// Presses keys, one after the other: `Tab`, `Enter`, `Escape`, `ArrowDown` and their like, or `Shift+` one of them.
    ///
    /// # Panics
    ///
    /// If a key is none of those.
    #[track_caller]
    pub fn press(&mut self, keys: &[&str]) {
        const CODES: [(&str, u32); 10] = [
            ("Tab", 9),
            ("Enter", 13),
            ("Escape", 27),
            (" ", 32),
            ("End", 35),
            ("Home", 36),
            ("ArrowLeft", 37),
            ("ArrowUp", 38),
            ("ArrowRight", 39),
            ("ArrowDown", 40),
        ];
        for key in keys {
            let (modifiers, name) = key.strip_prefix("Shift+").map_or((0, *key), |name| (8, name));
            let (_, code) = CODES.into_iter().find(|(known, _)| *known == name).expect("a key of the list");
            // A button is pressed by what a key types.
            let text = match name {
                "Enter" => "\r",
                " " => " ",
                _ => "",
            };
            let event = |kind: &str| {
                json!({
                    "type": kind, "key": name, "code": if name == " " { "Space" } else { name },
                    "windowsVirtualKeyCode": code, "modifiers": modifiers, "text": text,
                })
            };
            self.ask("Input.dispatchKeyEvent", event(if text.is_empty() { "rawKeyDown" } else { "keyDown" }));
            self.ask("Input.dispatchKeyEvent", event("keyUp"));
        }
    }

    /// Shows pages as they are for those who like it dark, or light.
    #[track_caller]
    pub fn prefer(&mut self, scheme: &str) {
        self.ask("Emulation.setEmulatedMedia", json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }));
    }

    /// Runs scripts of pages opened from now on, or does not.
    #[track_caller]
    pub fn run_scripts(&mut self, runs: bool) {
        self.ask("Emulation.setScriptExecutionDisabled", json!({ "value": !runs }));
    }

    /// What the page said on the console, and what went wrong in it.
    #[track_caller]
    pub fn console(&mut self) -> Vec<String> {
        // What was said before this is answered was said before it.
        self.evaluate("0");
        let methods = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"];
        self.events.iter().filter(|event| methods.iter().any(|method| event["method"] == *method)).map(ToString::to_string).collect()
    }

    /// What was asked for since the page was opened, itself included.
    #[track_caller]
    pub fn requests(&mut self) -> Vec<String> {
        self.evaluate("0");
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str().map(str::to_owned)).collect()
    }

    /// Asks for something and waits for the answer; what happens meanwhile is kept.
    #[track_caller]
    fn ask(&mut self, method: &str, parameters: Json) -> Json {
        self.count += 1;
        let mut message = json!({ "id": self.count, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let mut answer = self.from.recv_timeout(PATIENCE).expect("the browser answers");
            if answer["id"] == json!(self.count) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
            self.events.push(answer);
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // It may be gone already, and what is left behind lies where temporary files lie.
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        for _ in 0..100 {
            if self.browser.try_wait().is_ok_and(|status| status.is_some()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.browser.kill();
        let _ = self.browser.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
