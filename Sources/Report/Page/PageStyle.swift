/// How a page looks, in light and dark, and what its parts are.
enum PageStyle {
    /// The parts of the page; all that tells of sessions is put in by the script.
    ///
    /// - Parameter title: markup already.
    static func body(title: String) -> String {
        """
        <header>
        <h1>\(title)</h1><p id="sum"></p>
        <p id="keys"><kbd>n</kbd> <kbd>p</kbd> next and previous difference, <kbd>j</kbd> \
        <kbd>k</kbd> next and previous line</p>
        </header>
        <div id="page">
        <nav aria-label="What was compared">
        <div id="sessions"></div>
        <button type="button" id="look" hidden>Look at each session</button>
        <label id="filter"><input type="checkbox" id="all"> what is the same too</label>
        <div id="items" class="list" tabindex="0" role="listbox" aria-label="What was compared"></div>
        </nav>
        <main>
        <div id="names"><span id="first"></span><span id="second"></span></div>
        <div id="rows" class="list" tabindex="0" role="listbox" aria-label="Both sessions"></div>
        <section id="detail" aria-live="polite"></section>
        </main>
        </div>
        """
    }

    /// The style sheet.
    static let text =
        PageFrame.colours + """
            :root { --strong: #0b5cad; --redder: #f9d4d7; --open: #fff6dc; --picked: #0b5cad; }
            @media (prefers-color-scheme: dark) {
              :root { --strong: #6cb2f5; --redder: #54252c; --open: #352d18; --picked: #6cb2f5; }
            }
            html, body { height: 100%; margin: 0; }
            body {
              display: flex; flex-direction: column; background: var(--back); color: var(--text);
              font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif;
            }
            header {
              display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 16px; padding: 8px 14px;
              border-bottom: 1px solid var(--edge); background: var(--panel);
            }
            h1 { font-size: 16px; margin: 0; }
            header p { margin: 0; }
            #keys { margin-left: auto; color: var(--dim); font-size: 12px; }
            kbd {
              border: 1px solid var(--edge); border-radius: 3px; padding: 0 4px; background: var(--back);
              font: 11px ui-monospace, "DejaVu Sans Mono", monospace;
            }
            noscript { padding: 14px; }
            #page { flex: 1; display: flex; min-height: 0; }
            nav {
              width: 290px; flex: none; display: flex; flex-direction: column; min-height: 0;
              border-right: 1px solid var(--edge); background: var(--panel);
            }
            #sessions { max-height: 40%; overflow: auto; flex: none; padding: 6px; }
            #sessions:empty { display: none; }
            #sessions button {
              display: flex; gap: 8px; width: 100%; padding: 3px 8px; border: 0; border-radius: 4px;
              background: none; color: inherit; font: inherit; text-align: left; cursor: pointer;
            }
            #sessions button span:first-child { flex: none; width: 4.8em; }
            #sessions button span:last-child {
              overflow: hidden; text-overflow: ellipsis; white-space: nowrap; direction: rtl;
              text-align: left; flex: 1;
            }
            #sessions button[aria-current="true"] { background: var(--back); outline: 1px solid var(--edge); }
            #look { flex: none; font: inherit; margin: 8px 14px; padding: 2px 10px; }
            #filter {
              flex: none; padding: 6px 14px; border-top: 1px solid var(--edge); color: var(--dim);
              font-size: 12px;
            }
            #filter input { margin: 0 4px 0 0; vertical-align: -2px; }
            .list { flex: 1; min-height: 0; overflow: auto; position: relative; outline: none; }
            .list:focus-visible { box-shadow: inset 0 0 0 2px var(--picked); }
            .pad { position: relative; }
            .item, .line { position: absolute; left: 0; right: 0; cursor: default; }
            .item { height: 42px; padding: 3px 14px; border-bottom: 1px solid var(--edge); overflow: hidden; }
            .item div { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; line-height: 18px; }
            .item div:last-child { color: var(--dim); font-size: 12px; }
            .item.picked { background: var(--back); box-shadow: inset 3px 0 0 var(--picked); }
            main { flex: 1; display: flex; flex-direction: column; min-width: 0; }
            #names, .line { display: grid; grid-template-columns: 1fr 1fr; }
            #names {
              flex: none; border-bottom: 1px solid var(--edge); font-weight: 600;
            }
            #names span {
              padding: 4px 10px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
            }
            #names span + span, .line > div + div { border-left: 1px solid var(--edge); }
            .line { height: 22px; font: 12px/22px ui-monospace, "DejaVu Sans Mono", monospace; }
            .line > div {
              display: grid; grid-template-columns: 1ch 9ch 3ch 2ch 10ch 1fr; column-gap: 6px;
              padding: 0 6px;
              overflow: hidden; white-space: pre;
            }
            .line > div > span { overflow: hidden; text-overflow: ellipsis; }
            .line .none { background: var(--panel); }
            .line.counts > div { background: var(--red); }
            .line.counts.same > div { background: var(--redder); }
            .line.skipped > div { background: var(--open); }
            .line.picked { outline: 2px solid var(--picked); outline-offset: -2px; z-index: 1; }
            .dim { color: var(--dim); }
            .strong { color: var(--strong); }
            .good { color: var(--good); }
            .bad { color: var(--bad); }
            .warning { color: var(--warning); }
            .word { font-weight: 600; }
            #detail {
              flex: none; max-height: 42%; overflow: auto; padding: 8px 14px; background: var(--panel);
              border-top: 1px solid var(--edge);
            }
            #detail h2 { font-size: 14px; margin: 0 0 4px; }
            #detail p { margin: 2px 0; }
            #detail table { border-collapse: collapse; margin: 6px 0; max-width: 100%; }
            #detail th, #detail td {
              padding: 2px 12px 2px 0; text-align: left; vertical-align: top; font-weight: normal;
            }
            #detail th { color: var(--dim); font-size: 12px; }
            #detail td {
              font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere;
              white-space: pre-wrap;
            }
            #detail td:first-child { overflow-wrap: normal; }
            #detail code {
              font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere;
            }
            @media (max-width: 800px) {
              #page { flex-direction: column; }
              nav { width: auto; max-height: 35%; border-right: 0; border-bottom: 1px solid var(--edge); }
              #keys { display: none; }
            }

            """
}
