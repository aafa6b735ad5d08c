-- CreateEnum
CREATE TYPE "DocumentPolicy" AS ENUM ('ANY', 'REGISTERED');

-- AlterTable
ALTER TABLE "lookup" ADD COLUMN     "customer_id" UUID;

-- AlterTable
ALTER TABLE "world" ADD COLUMN     "graphql_documents" "DocumentPolicy" NOT NULL DEFAULT 'ANY';

-- CreateTable
CREATE TABLE "viewer_token" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "api_token_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "permissions" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "viewer_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "persisted_operation" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "document" TEXT NOT NULL,
    "max_age_seconds" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "persisted_operation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "viewer_token_token_hash_key" ON "viewer_token"("token_hash");

-- CreateIndex
CREATE INDEX "viewer_token_world_id_created_at_id_idx" ON "viewer_token"("world_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "viewer_token_api_token_id_idx" ON "viewer_token"("api_token_id");

-- CreateIndex
CREATE INDEX "persisted_operation_world_id_created_at_id_idx" ON "persisted_operation"("world_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "persisted_operation_world_id_hash_key" ON "persisted_operation"("world_id", "hash");

-- AddForeignKey
ALTER TABLE "viewer_token" ADD CONSTRAINT "viewer_token_api_token_id_fkey" FOREIGN KEY ("api_token_id") REFERENCES "api_token"("id") ON DELETE CASCADE ON UPDATE CASCADE;
