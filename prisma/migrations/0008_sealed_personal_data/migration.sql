-- CreateTable
CREATE TABLE "data_key" (
    "id" TEXT NOT NULL,
    "secret" TEXT,
    "index_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "data_key_pkey" PRIMARY KEY ("id")
);

-- What is there already is in clear: the gateway seals it in the background, and then forgets this row.
INSERT INTO "data_key" ("id", "created_at") SELECT 'clear', now() WHERE EXISTS (SELECT FROM "world");
