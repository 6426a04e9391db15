;; A user who does not trust a project has its agents checked and none of them run.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(play (lambda ()
        (setq axe-lsp-trusted nil)
        (open-agent)
        (wait-for-diagnostics "negative-timeout -30" "unknown-agent \"ghost\"" "max-depth 6")
        (be-refused)))
