//! A Python program that a test drives by lines.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// It ends with this value.
pub struct Python {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Python {
    pub fn start(script: &str) -> Self {
        let mut child = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The next line that it prints.
    pub fn line(&mut self) -> String {
        self.output.next().unwrap().unwrap()
    }

    /// Gives it a line, and returns the next line that it prints.
    pub fn ask(&mut self, what: &str) -> String {
        writeln!(self.input, "{what}").unwrap();
        self.line()
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}
