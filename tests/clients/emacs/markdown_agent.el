;; An agent of Claude Code is opened without any settings: a mistake is seen and corrected.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(play (lambda ()
        (open-agent)
        (wait-for-diagnostics "unknown-tool Greb")
        (exchange "Greb" "Grep")
        (wait-for-diagnostics)
        (save-buffer)))
