// Counts what holds. The last line is read by `scripts/test.sh`.
export class Report {
  passed = 0;
  failed = 0;

  async check(title, judge) {
    try {
      await judge();
      this.passed += 1;
    } catch (error) {
      this.failed += 1;
      console.error(`${title}: ${error.stack ?? error}`);
    }
  }

  // The same check for many cases: one line for all that pass.
  async each(title, cases, judge) {
    const before = this.passed;
    for (const one of cases) await this.check(`${title}: ${one.name ?? JSON.stringify(one)}`, () => judge(one));
    console.log(`${title}: ${this.passed - before} of ${cases.length}`);
  }

  end() {
    console.log(`judges: ${this.passed} passed, ${this.failed} failed`);
    process.exitCode = this.failed === 0 ? 0 : 1;
  }
}
